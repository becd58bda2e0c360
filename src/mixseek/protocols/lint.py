"""Everything that is wrong with a protocol's declaration and its templates, at once, with lines.

Loading stops at the first problem, because nothing may be asked by a broken protocol.
"""

import copy
import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mixseek.errors import ConfigurationError
from mixseek.protocols.complaints import complaints_of, fields_at
from mixseek.protocols.declaration import (
    DEFAULT_LANGUAGES,
    Complaint,
    DeclarationFile,
    read_template,
    read_toml_text,
    unknown_among,
)
from mixseek.protocols.registry import KINDS, describe, load_protocol, protocol_names
from mixseek.protocols.scored.arithmetic import total_range
from mixseek.protocols.scored.contradictions import contradictions
from mixseek.protocols.scored.languages import missing_words
from mixseek.protocols.scored.parameters import ScoredParameters
from mixseek.protocols.scored.prompt import VARIABLES
from mixseek.protocols.scored.reachable import unreachable_verdicts
from mixseek.protocols.toml_lines import ProtocolFile, key_lines
from mixseek.settings.text_files import parse_toml
from mixseek.templating import compile_template, undeclared_variables, used_variables

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


def lint_protocol(path: Path, where: str) -> list[Complaint]:
    """`where` names the file in the complaints. Raises ConfigurationError only for a file that cannot be read."""
    text = read_toml_text(path)
    try:
        table = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        position = _TOML_LINE.search(str(error))
        line = int(position[1]) if position else text.count("\n") + 1
        return [Complaint(where, line, f"not valid TOML: {error}", "")]
    file = ProtocolFile(path, where, table, key_lines(text))
    complaints = [*_lint_head(file), *_lint_kind(file)]
    if all(complaint.is_hint for complaint in complaints):
        complaints += _lint_use(file)
    return sorted(complaints, key=lambda complaint: (complaint.where != where, complaint.where, complaint.line or 0))


def task_types_of(path: Path) -> tuple[str, ...]:
    """The task types that a declaration names, for linting task rubrics beside it; none where it names none."""
    try:
        table = parse_toml(read_toml_text(path))
        return tuple(ScoredParameters.model_validate(table.get("parameters", {})).task_types.types)
    except (tomllib.TOMLDecodeError, ValidationError, AttributeError):
        return ()


def _lint_head(file: ProtocolFile) -> Iterator[Complaint]:
    try:
        DeclarationFile.model_validate(file.table)
    except ValidationError as error:
        yield from complaints_of(error, DeclarationFile, file.table, file)
    kind = file.table.get("kind")
    if isinstance(kind, str) and kind not in KINDS:
        yield file.complaint("kind", f"unknown kind {unknown_among(kind, KINDS)}")
    name = file.table.get("name")
    if name in protocol_names() and file.path.parent.name != "declarations":
        advice = "give yours a name of its own, so that reports can be told apart"
        yield file.complaint("name", f"{name!r} is the name of a built-in protocol", advice, is_hint=True)


def _lint_kind(file: ProtocolFile) -> Iterator[Complaint]:
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
            unsettled = tuple(place for name in dropped for place in _LEANS_ON.get(name, (name,)))
            yield from _lint_settings(file, settings, unsettled)
    yield from _lint_templates(file, settings)


def _readable_part(
    file: ProtocolFile, given: Mapping[str, Any]
) -> tuple[ScoredParameters | None, list[Complaint], frozenset[str]]:
    """What is left without the keys that cannot be read, and the tables that lost some: what leans on them waits."""
    complaints: list[Complaint] = []
    dropped: set[str] = set()
    rest: dict[str, Any] = copy.deepcopy(dict(given))
    for _ in range(_MAX_ROUNDS):
        try:
            return ScoredParameters.model_validate(rest), complaints, frozenset(dropped)
        except ValidationError as error:
            if not complaints:
                complaints += complaints_of(error, ScoredParameters, given, file, ("parameters",))
            problems = error.errors(include_url=False)
            dropped |= {
                str(problem["loc"][0])
                for problem in problems
                if problem["loc"] and problem["type"] != "extra_forbidden"
            }
            if not sum(_drop(rest, problem["loc"], problem["type"]) for problem in problems):
                break
    return None, complaints, frozenset(dropped)


def _drop(table: dict[str, Any], location: Sequence[int | str], kind: str) -> bool:
    """Takes the key out that a problem is about, or mends it; where one is missing, the table that misses it."""
    path = [str(part) for part in (location[:-1] if kind == "missing" else location)]
    holder = table
    while len(path) > 1 and isinstance(holder.get(path[0]), dict):
        holder = holder[path.pop(0)]
    if not path or path[0] not in holder:
        return False
    value = holder.pop(path[0])
    if kind == "extra_forbidden":
        names = [str(part) for part in location]
        close = difflib.get_close_matches(names[-1][:60], fields_at(ScoredParameters, names), n=1)
        if close and close[0] not in holder:
            # Read as what it was meant to be: otherwise one slip is told as many contradictions.
            holder[close[0]] = value
    return True


def _lint_settings(file: ProtocolFile, settings: ScoredParameters, unsettled: tuple[str, ...]) -> Iterator[Complaint]:
    problems = [problem for problem in contradictions(settings) if not (unsettled and problem.startswith(unsettled))]
    for problem in problems:
        place, _, what = problem.partition(": ")
        yield file.complaint(f"parameters.{place}", f"parameters.{place}: {what}")
    for language in _languages(file):
        for place in missing_words(settings, language):
            what = f"parameters.{place} has no text in language {language!r}"
            yield file.complaint(f"parameters.{place}", what, f"add it, or take {language!r} out of languages")
    if unsettled or any(problem.startswith(_ABOUT_NUMBERS) for problem in problems):
        return
    for word, why in unreachable_verdicts(settings).items():
        place = f"parameters.verdict.rules.{word}"
        yield file.complaint(place, f"verdict {word!r} can never be reached: {why}", "change the thresholds")
    tops = {name: total_range(settings, name)[1] for name in settings.task_types.types}
    if settings.total.maximum is None and len(set(tops.values())) > 1:
        totals = ", ".join(f"{name} {top:g}" for name, top in tops.items())
        what = f"the weights of the task types do not sum to the same total ({totals})"
        yield file.complaint("parameters.task_types.types", what, "make them equal, and say so in total.maximum")


def _languages(file: ProtocolFile) -> tuple[str, ...]:
    given = file.table.get("languages", ())
    return tuple(language for language in given if isinstance(language, str)) if isinstance(given, list) else ()


def _lint_templates(file: ProtocolFile, settings: ScoredParameters | None) -> Iterator[Complaint]:
    templates = file.table.get("templates", {})
    if not isinstance(templates, dict):
        return
    for role in templates:
        if role not in _SCORED_ROLES:
            yield file.complaint(f"templates.{role}", f"unknown template {unknown_among(role, _SCORED_ROLES)}")
    for role in _SCORED_ROLES:
        pattern = templates.get(role)
        if isinstance(pattern, str):
            yield from _lint_template_files(file, role, pattern, settings)
        for language in _languages(file) if role not in templates else ():
            if language not in DEFAULT_LANGUAGES:
                what = f"there is no {role} prompt of our own in language {language!r} ({', '.join(DEFAULT_LANGUAGES)})"
                yield file.complaint("languages", what, f"name a file in templates.{role}")


def _lint_template_files(
    file: ProtocolFile, role: str, pattern: str, settings: ScoredParameters | None
) -> Iterator[Complaint]:
    place = f"templates.{role}"
    languages = _languages(file)
    if "{language}" not in pattern and len(languages) > 1:
        what = f"{place} has no {{language}}, so all of {', '.join(languages)} get the same prompt"
        yield file.complaint(place, what, "write one file for each language", is_hint=True)
    for name in dict.fromkeys(pattern.replace("{language}", language) for language in languages):
        try:
            source = read_template(file.path.parent / name).text
        except ConfigurationError as error:
            yield file.complaint(place, str(error), "write it, or take its language out of languages")
            continue
        yield from _lint_template(source, str(Path(file.where).parent / name), role, settings)


def _lint_template(source: str, where: str, role: str, settings: ScoredParameters | None) -> Iterator[Complaint]:
    for line, problem in undeclared_variables(source, VARIABLES):
        yield Complaint(where, line, problem, "")
    used = used_variables(source)
    try:
        # With the names that were objected to: what else is wrong is said in the same round.
        compile_template(source, VARIABLES | used, where)
    except ConfigurationError as error:
        yield _located(str(error), re.escape(where), where)
        if not used:
            return
    if role == "user" and "response" not in used:
        yield Complaint(where, None, "the prompt never shows the response", "put {{ response }} where it belongs")
    if role == "user" and "response" in used and "nonce" not in used:
        what = "the judge is not told which token closes a section"
        yield Complaint(where, None, what, "explain the fences, with {{ nonce }}", is_hint=True)
    for name in (variable for variable in _JUDGED if role == "system" and variable in used):
        what = f"{name} stands in the system message, where judged text would speak as the experimenter"
        yield Complaint(where, None, what, f"move {{{{ {name} }}}} to the user template")
    if role == "system" and settings and settings.task_rubric.required and "Task_Specific_Rubric" not in used:
        what = "the task rubric is required and never shown"
        yield Complaint(where, None, what, "put {{ Task_Specific_Rubric }} where it belongs")


def _located(message: str, file: str, where: str) -> Complaint:
    """A message of loading, which begins with `FILE:LINE:` or `FILE:`; `where` is what the reader calls FILE."""
    match = re.match(rf"{file}(?::(?P<line>\d+))?: (?P<what>.*)", message, re.DOTALL)
    line, what = match.groups() if match else (None, message)
    return Complaint(where, int(line) if line else None, what, "")


def _lint_use(file: ProtocolFile) -> Iterator[Complaint]:
    """What only loading and rendering shows, language by language."""
    messages: dict[str, None] = {}
    for language in _languages(file):
        try:
            describe(load_protocol(str(file.path), language))
        except ConfigurationError as error:
            messages[str(error).removeprefix("Jinja2 template error: ")] = None
    for message in messages:
        named = re.match(r"[^\s:]+(?=:)", message)
        if named is None or named[0] in {file.path.name, str(file.path)}:
            yield replace(_located(message, r"[^\s:]+", file.where), line=None)
        else:
            yield _located(message, r"[^\s:]+", str(Path(file.where).parent / named[0]))
