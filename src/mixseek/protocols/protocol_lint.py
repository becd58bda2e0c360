"""Everything that is wrong with a protocol's declaration and its templates, at once, with lines.

Loading stops at the first problem, because nothing may be asked by a broken protocol.
Whoever writes one wants to see them all.
"""

import copy
import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mixseek.errors import ConfigurationError
from mixseek.protocols.complaints import Complaint
from mixseek.protocols.declaration import DeclarationFile, read_template, read_toml_text, unknown_among
from mixseek.protocols.declaration_lint import complaints_of, fields_at
from mixseek.protocols.registry import describe, load_protocol, protocol_names
from mixseek.protocols.scored import DEFAULT_LANGUAGES
from mixseek.protocols.scored_checks import contradictions
from mixseek.protocols.scored_parameters import ScoredParameters
from mixseek.protocols.scored_prompt import VARIABLES
from mixseek.protocols.scored_rules import total_range
from mixseek.protocols.scored_words import missing_words
from mixseek.protocols.toml_places import Place, key_lines, line_of
from mixseek.protocols.verdict_reach import unreachable_verdicts
from mixseek.settings.marked_text import parse_toml
from mixseek.templating.template import compile_template, undeclared_variables, used_variables

_KINDS = ("scored", "semantic")
_SCORED_ROLES = ("system", "user")
# Judged text may stand in the user message only: in the system message it would speak with the experimenter's voice.
_JUDGED = ("question", "response", "ground_truth", "ground_truth_alternatives")
# Each round takes what cannot be read out of the table; there are few levels.
_MAX_ROUNDS = 8
# Which verdicts can be reached is a question of these.
_ABOUT_NUMBERS = ("scale", "task_types", "total", "gates", "verdict")
# What a mistake in one table makes of others.
_LEANS_ON = {
    "scale": ("scale", "task_types", "total", "gates"),
    "dimensions": ("scale", "task_types", "total", "verdict"),
    "task_types": ("scale", "task_types", "total"),
}
_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class _File:
    """A declaration that TOML could read."""

    path: Path
    where: str
    table: Mapping[str, Any]
    lines: Mapping[Place, int]

    def complaint(self, place: str, what: str, advice: str = "", *, is_hint: bool = False) -> Complaint:
        """About a key, which `place` names with dots as in the file."""
        return Complaint(self.where, line_of(self.lines, place.split(".")), what, advice, is_hint)


def lint_protocol(path: Path, where: str) -> list[Complaint]:
    """`where` names the file in the complaints. Raises ConfigurationError only for a file that cannot be read."""
    text = read_toml_text(path)
    try:
        table = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        return [_syntax_complaint(text, str(error), where)]
    file = _File(path, where, table, key_lines(text))
    complaints = [*_lint_head(file), *_lint_kind(file)]
    if not any(not complaint.is_hint for complaint in complaints):
        complaints += _lint_use(file)
    return sorted(complaints, key=lambda complaint: (complaint.where != where, complaint.where, complaint.line or 0))


def task_types_of(path: Path) -> tuple[str, ...]:
    """The task types that a declaration names, for linting task rubrics beside it; none where it names none."""
    try:
        table = parse_toml(read_toml_text(path))
        return tuple(ScoredParameters.model_validate(table.get("parameters", {})).task_types.types)
    except (tomllib.TOMLDecodeError, ValidationError, AttributeError):
        return ()


def _syntax_complaint(text: str, message: str, where: str) -> Complaint:
    found = _TOML_LINE.search(message)
    line = int(found[1]) if found else text.count("\n") + 1
    return Complaint(where, line, f"not valid TOML: {message}", "")


def _lint_head(file: _File) -> Iterator[Complaint]:
    try:
        DeclarationFile.model_validate(file.table)
    except ValidationError as error:
        yield from complaints_of(error, DeclarationFile, file.table, file.where, file.lines)
    kind = file.table.get("kind")
    if isinstance(kind, str) and kind not in _KINDS:
        yield file.complaint("kind", f"unknown kind {unknown_among(kind, _KINDS)}")
    name = file.table.get("name")
    if name in protocol_names() and file.path.parent.name != "declarations":
        advice = "give yours a name of its own, so that reports can be told apart"
        yield file.complaint("name", f"{name!r} is the name of a built-in protocol", advice, is_hint=True)


def _lint_kind(file: _File) -> Iterator[Complaint]:
    """The scored kind is a table, of which everything can be said; the semantic one is checked by loading it."""
    # A kind that is only misspelt hides nothing.
    if not difflib.get_close_matches(str(file.table.get("kind")), ("scored",)):
        return
    given = file.table.get("parameters", {})
    settings: ScoredParameters | None = None
    if isinstance(given, dict):
        settings, complaints, dropped = _readable_part(file, given)
        yield from complaints
        if settings is not None:
            yield from _lint_settings(
                file, settings, tuple(place for one in dropped for place in _LEANS_ON.get(one, (one,)))
            )
    yield from _lint_templates(file, settings)


def _readable_part(
    file: _File, given: Mapping[str, Any]
) -> tuple[ScoredParameters | None, list[Complaint], frozenset[str]]:
    """What is left without the keys that cannot be read, so that the rest can be looked at in the same round.

    The names are those of the tables that lost something: what leans on them cannot be judged yet.
    """
    complaints: list[Complaint] = []
    dropped: set[str] = set()
    rest: dict[str, Any] = copy.deepcopy(dict(given))
    for _ in range(_MAX_ROUNDS):
        try:
            return ScoredParameters.model_validate(rest), complaints, frozenset(dropped)
        except ValidationError as error:
            if not complaints:
                complaints += complaints_of(error, ScoredParameters, given, file.where, file.lines, ("parameters",))
            problems = error.errors(include_url=False)
            dropped |= {str(one["loc"][0]) for one in problems if one["loc"] and one["type"] != "extra_forbidden"}
            if not sum(_drop(rest, problem["loc"], problem["type"]) for problem in problems):
                break
    return None, complaints, frozenset(dropped)


def _drop(table: dict[str, Any], location: Sequence[int | str], kind: str) -> bool:
    """Takes the key out that a problem is about, or mends it; where one is missing, the table that misses it."""
    path = location[:-1] if kind == "missing" else location
    holder: Any = table
    for number, part in enumerate(path):
        inner = holder.get(part) if isinstance(holder, dict) else None
        is_last = number == len(path) - 1 or not isinstance(inner, dict)
        if is_last and isinstance(holder, dict) and part in holder:
            value = holder.pop(part)
            meant = _misspelt(location, holder) if kind == "extra_forbidden" else None
            if meant is not None:
                # Read as what it was meant to be: otherwise one slip is told as many contradictions.
                holder[meant] = value
            return True
        if is_last:
            return False
        holder = inner
    return False


def _misspelt(location: Sequence[int | str], holder: Mapping[str, Any]) -> str | None:
    """The key that was meant by one that does not exist, unless it is there as well."""
    names = [str(part) for part in location]
    close = difflib.get_close_matches(names[-1][:60], fields_at(ScoredParameters, names), n=1)
    return close[0] if close and close[0] not in holder else None


def _lint_settings(file: _File, settings: ScoredParameters, unsettled: tuple[str, ...]) -> Iterator[Complaint]:
    found = [problem for problem in contradictions(settings) if not (unsettled and problem.startswith(unsettled))]
    for problem in found:
        place, _, what = problem.partition(": ")
        yield file.complaint(f"parameters.{place}", f"parameters.{place}: {what}")
    for language in _languages(file):
        for place in missing_words(settings, language):
            what = f"parameters.{place} has no text in language {language!r}"
            yield file.complaint(f"parameters.{place}", what, f"add it, or take {language!r} out of languages")
    if unsettled or any(problem.startswith(_ABOUT_NUMBERS) for problem in found):
        return
    for word, why in unreachable_verdicts(settings).items():
        place = f"parameters.verdict.rules.{word}"
        yield file.complaint(place, f"verdict {word!r} can never be reached: {why}", "change the thresholds")
    tops = {name: total_range(settings, name)[1] for name in settings.task_types.types}
    if settings.total.maximum is None and len(set(tops.values())) > 1:
        said = ", ".join(f"{name} {top:g}" for name, top in tops.items())
        what = f"the weights of the task types do not sum to the same total ({said})"
        yield file.complaint("parameters.task_types.types", what, "make them equal, and say so in total.maximum")


def _languages(file: _File) -> tuple[str, ...]:
    given = file.table.get("languages", ())
    return tuple(one for one in given if isinstance(one, str)) if isinstance(given, list) else ()


def _lint_templates(file: _File, settings: ScoredParameters | None) -> Iterator[Complaint]:
    templates = file.table.get("templates", {})
    if not isinstance(templates, dict):
        return
    for role in templates:
        if role not in _SCORED_ROLES:
            yield file.complaint(f"templates.{role}", f"unknown template {unknown_among(role, _SCORED_ROLES)}")
    for role in _SCORED_ROLES:
        pattern = templates.get(role)
        if role not in templates:
            yield from _lint_default_template(file, role)
        elif isinstance(pattern, str):
            yield from _lint_template_files(file, role, pattern, settings)


def _lint_default_template(file: _File, role: str) -> Iterator[Complaint]:
    for language in _languages(file):
        if language not in DEFAULT_LANGUAGES:
            what = f"there is no {role} prompt of our own in language {language!r} ({', '.join(DEFAULT_LANGUAGES)})"
            yield file.complaint("languages", what, f"name a file in templates.{role}")


def _lint_template_files(
    file: _File, role: str, pattern: str, settings: ScoredParameters | None
) -> Iterator[Complaint]:
    place = f"templates.{role}"
    languages = _languages(file)
    if "{language}" not in pattern and len(languages) > 1:
        what = f"{place} has no {{language}}, so all of {', '.join(languages)} get the same prompt"
        yield file.complaint(place, what, "write one file for each language", is_hint=True)
    for name in dict.fromkeys(pattern.replace("{language}", language) for language in languages):
        path = file.path.parent / name
        try:
            source = read_template(path).text
        except ConfigurationError as error:
            yield file.complaint(place, str(error), "write it, or take its language out of languages")
            continue
        where = str(Path(file.where).parent / name)
        yield from _lint_template(source, where, role, settings)


def _lint_template(source: str, where: str, role: str, settings: ScoredParameters | None) -> Iterator[Complaint]:
    undeclared = undeclared_variables(source, VARIABLES)
    for line, problem in undeclared:
        yield Complaint(where, line, problem, "")
    used = used_variables(source)
    try:
        # With the names that were objected to: what else is wrong is said in the same round.
        compile_template(source, VARIABLES | used, where)
    except ConfigurationError as error:
        yield _located(str(error), where)
        if not used:
            return
    if role == "user" and "response" not in used:
        yield Complaint(where, None, "the prompt never shows the response", "put {{ response }} where it belongs")
    if role == "user" and "response" in used and "nonce" not in used:
        what = "the judge is not told which token closes a section"
        yield Complaint(where, None, what, "explain the fences, with {{ nonce }}", is_hint=True)
    for name in _JUDGED if role == "system" else ():
        if name in used:
            what = f"{name} stands in the system message, where judged text would speak as the experimenter"
            yield Complaint(where, None, what, f"move {{{{ {name} }}}} to the user template")
    if role == "system" and settings and settings.task_rubric.required and "Task_Specific_Rubric" not in used:
        what = "the task rubric is required and never shown"
        yield Complaint(where, None, what, "put {{ Task_Specific_Rubric }} where it belongs")


def _located(message: str, where: str) -> Complaint:
    """A message that begins with `file:line:` or `file:`, as loading words it."""
    found = re.match(rf"{re.escape(where)}(?::(\d+))?: (.*)", message, re.DOTALL)
    if found is None:
        return Complaint(where, None, message, "")
    return Complaint(where, int(found[1]) if found[1] else None, found[2], "")


def _lint_use(file: _File) -> Iterator[Complaint]:
    """What only loading and rendering shows, language by language."""
    said: dict[str, None] = {}
    for language in _languages(file):
        try:
            describe(load_protocol(str(file.path), language))
        except ConfigurationError as error:
            said[str(error).removeprefix("Jinja2 template error: ")] = None
    for message in said:
        found = re.match(r"(?P<file>[^\s:]+)(?::(?P<line>\d+))?: (?P<what>.*)", message, re.DOTALL)
        if found is None or found["file"] in {file.path.name, str(file.path)}:
            yield Complaint(file.where, None, found["what"] if found else message, "")
        else:
            line = int(found["line"]) if found["line"] else None
            yield Complaint(str(Path(file.where).parent / found["file"]), line, found["what"], "")
