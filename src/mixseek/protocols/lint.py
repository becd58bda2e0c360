"""Everything that is wrong with a protocol's declaration and its templates, at once, with lines.

Loading stops at the first problem, because nothing may be asked by a broken protocol.
"""

import copy
import difflib
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mixseek.errors import ConfigurationError, suggest
from mixseek.protocols.declaration import Complaint, DeclarationFile, read_template, read_toml_text, unknown_among
from mixseek.protocols.registry import KINDS, describe, load_protocol, protocol_names
from mixseek.protocols.scored.parameters import (
    ScoredParameters,
    contradictions,
    factors_of,
    maxima_of,
    missing_words,
    total_range,
    verdict_of,
)
from mixseek.protocols.scored.prompt import VARIABLES
from mixseek.protocols.scored.protocol import DEFAULT_LANGUAGES
from mixseek.settings.models import parse_toml
from mixseek.templating import compile_template, undeclared_variables, used_variables

# Where in a TOML file a key stands: the parser gives values without lines, and a complaint needs a line.

_HEADER = re.compile(r"\s*\[{1,2}(?P<path>[^\[\]#]+)\]{1,2}")
_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_KEY = re.compile(rf"\s*(?P<path>{_PART}(?:\s*\.\s*{_PART})*)\s*=\s*(?P<value>.*)")
_PARTS = re.compile(_PART)

Place = tuple[str, ...]


def key_lines(text: str) -> Mapping[Place, int]:
    """The line of every table and key. Meant for files that the parser has accepted, but takes any text."""
    lines: dict[Place, int] = {}
    table: Place = ()
    closing = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := _HEADER.match(line):
            table = _split(header["path"])
            _note(lines, table, number)
        elif key := _KEY.match(line):
            # The keys of an inline table stand on this line too.
            _note(lines, (*table, *_split(key["path"])), number)
            # A text of several lines may begin here and not end here.
            closing = next((marks for marks in ('"""', "'''") if key["value"].count(marks) % 2), "")
    return lines


def line_of(lines: Mapping[Place, int], place: Sequence[object]) -> int | None:
    """The line of the place or of the nearest table around it."""
    names = tuple(str(part) for part in place)
    around = (names[:length] for length in range(len(names), 0, -1))
    return next((lines[table] for table in around if table in lines), None)


def _note(lines: dict[Place, int], place: Place, number: int) -> None:
    for length in range(1, len(place) + 1):
        lines.setdefault(place[:length], number)


def _split(path: str) -> Place:
    return tuple(part.strip("\"'") for part in _PARTS.findall(path))


# What pydantic says about a declaration, as complaints with a line and the key that was probably meant.


def complaints_of(
    error: ValidationError, model: type[BaseModel], given: Mapping[str, Any], file: "_File", prefix: Place = ()
) -> Iterator[Complaint]:
    """One for each place; `prefix` is where in the file the validated table stands."""
    said: dict[Place, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        kind = problem["type"]
        place = _place_in_file(problem["loc"], given, is_missing=kind == "missing")
        whole = (*prefix, *place)
        if kind == "extra_forbidden":
            advice = _meant(place[-1], fields_at(model, place))
            yield file.complaint(whole, f"unknown key {'.'.join(whole)}", advice)
        elif kind == "missing":
            yield file.complaint(whole, f"{'.'.join(whole)} is missing", "add it")
        else:
            said.setdefault(whole, []).append(problem["msg"].removeprefix("Value error, "))
    for whole, messages in said.items():
        # A choice of types objects once for each of them.
        text = " or ".join(dict.fromkeys(messages))
        yield file.complaint(whole, f"{'.'.join(whole)}: {text}" if whole else text)


def fields_at(model: type[BaseModel], place: Sequence[str]) -> tuple[str, ...]:
    """The keys that the table around a place may have; none where any key will do."""
    current: Any = model
    for part in place[:-1]:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(part)
            current = None if field is None else field.annotation
        elif get_origin(current) is dict:
            current = get_args(current)[1]
    if isinstance(current, type) and issubclass(current, BaseModel):
        return tuple(current.model_fields)
    return ()


def _meant(key: str, known: Sequence[str]) -> str:
    return suggest(key, known, f"remove it; known here: {', '.join(known[:12])}" if known else "remove it")


def _place_in_file(location: Sequence[int | str], given: Any, *, is_missing: bool) -> Place:
    """Without what pydantic adds behind it to tell the branches of a union apart."""
    place: list[str] = []
    for part in location:
        if isinstance(given, Mapping) and (part in given or (is_missing and part == location[-1])):
            given = given.get(str(part))
        elif isinstance(given, list | tuple) and isinstance(part, int) and part < len(given):
            given = given[part]
        else:
            break
        place.append(str(part))
    return tuple(place)


# Which verdicts of a scored protocol can come out at all; a word that never can is a slip in its thresholds.

# Gates that fail together: all subsets up to this many gates, single ones beyond.
_MAX_GATES = 6
# Between totals of decimal scores.
_STEP = 1e-6

# A total and the dimensions that are not zero, of those that a rule asks about.
_State = tuple[int | float, frozenset[str]]


def unreachable_verdicts(parameters: ScoredParameters) -> dict[str, str]:
    """Each word that no reply can lead to, with the reason."""
    rules, gates = parameters.verdict.rules, tuple(parameters.gates)
    sizes = range(len(gates) + 1) if len(gates) <= _MAX_GATES else (0, 1)
    reached: set[str] = set()
    for task_type in parameters.task_types.types or (None,):
        states = list(_states(parameters, task_type))
        for failed in chain.from_iterable(combinations(gates, size) for size in sizes):
            is_zeroed = any(parameters.gates[name].effect == "all_zero" for name in failed)
            for total, nonzero in [(0, frozenset[str]())] if is_zeroed else states:
                scores = {key: int(key in nonzero) for key in parameters.dimensions}
                reached.add(verdict_of(parameters, scores, total, failed))
    return {word: _why(parameters, word) for word in rules if word not in reached}


def _states(parameters: ScoredParameters, task_type: str | None) -> Iterator[_State]:
    """Totals at and beside each threshold and end, for every set of dimensions that can be zero."""
    scale, rules = parameters.scale, parameters.verdict.rules.values()
    factors, maxima = factors_of(parameters, task_type), maxima_of(parameters, task_type)
    # Whole scores make totals that are multiples of what all weights have in common.
    whole = [factor for factor in factors.values() if isinstance(factor, int)]
    step = math.gcd(*whole) if scale.values == "integer" and len(whole) == len(factors) else _STEP
    ends = {*total_range(parameters, task_type), *(end for rule in rules for end in (rule.at_least, rule.at_most))}
    bases = {end if step == _STEP else math.floor(end / step) * step for end in ends if end is not None}
    tried = {base + shift for base in bases for shift in (-step, 0, step)}
    least = 1 if scale.values == "integer" else _STEP / 100
    asked = sorted({key for rule in rules for key in rule.nonzero})
    may_be_zero = scale.minimum <= 0 <= (scale.maximum if scale.maximum is not None else 0)
    for size in range(len(asked) + 1 if may_be_zero else 1):
        for zeros in combinations(asked, size):
            nonzero = frozenset(asked) - set(zeros)
            lowest = {key: least if key in nonzero and scale.minimum == 0 else scale.minimum for key in factors}
            low = sum(factors[key] * lowest[key] for key in factors if key not in zeros)
            high = sum(factors[key] * maxima[key] for key in factors if key not in zeros)
            totals = (total for total in {low, high, *tried} if low - _STEP / 2 <= total <= high + _STEP / 2)
            yield from ((total, nonzero) for total in totals)


def _why(parameters: ScoredParameters, word: str) -> str:
    rule, rules = parameters.verdict.rules[word], list(parameters.verdict.rules)
    lowest, highest = total_range(parameters, None)
    if rule.at_least is not None and rule.at_least > highest:
        return f"at_least {rule.at_least:g} is above the highest total {highest:g}"
    if rule.at_most is not None and rule.at_most < lowest:
        return f"at_most {rule.at_most:g} is below the lowest total {lowest:g}"
    if rule.at_least is not None and rule.at_most is not None and rule.at_least > rule.at_most:
        return f"at_least {rule.at_least:g} is above its own at_most {rule.at_most:g}"
    earlier = " or ".join(rules[: rules.index(word)])
    return f"whatever it would match is matched by {earlier} before it" if earlier else "no reply can meet it"


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

    def complaint(self, place: str | Place, what: str, advice: str = "", *, is_hint: bool = False) -> Complaint:
        """About a key; a text names it with dots as in the file."""
        parts = place.split(".") if isinstance(place, str) else place
        return Complaint(self.where, line_of(self.lines, parts), what, advice, is_hint)


def lint_protocol(path: Path, where: str) -> list[Complaint]:
    """`where` names the file in the complaints. Raises ConfigurationError only for a file that cannot be read."""
    text = read_toml_text(path)
    try:
        table = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        return [Complaint(where, line, f"not valid TOML: {error}", "")]
    file = _File(path, where, table, key_lines(text))
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


def _lint_head(file: _File) -> Iterator[Complaint]:
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
            unsettled = tuple(place for one in dropped for place in _LEANS_ON.get(one, (one,)))
            yield from _lint_settings(file, settings, unsettled)
    yield from _lint_templates(file, settings)


def _readable_part(
    file: _File, given: Mapping[str, Any]
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
            dropped |= {str(one["loc"][0]) for one in problems if one["loc"] and one["type"] != "extra_forbidden"}
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
        if isinstance(pattern, str):
            yield from _lint_template_files(file, role, pattern, settings)
        for language in _languages(file) if role not in templates else ():
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
    for name in (one for one in _JUDGED if role == "system" and one in used):
        what = f"{name} stands in the system message, where judged text would speak as the experimenter"
        yield Complaint(where, None, what, f"move {{{{ {name} }}}} to the user template")
    if role == "system" and settings and settings.task_rubric.required and "Task_Specific_Rubric" not in used:
        what = "the task rubric is required and never shown"
        yield Complaint(where, None, what, "put {{ Task_Specific_Rubric }} where it belongs")


def _located(message: str, file: str, where: str) -> Complaint:
    """A message of loading, which begins with `FILE:LINE:` or `FILE:`; `where` is what the reader calls FILE."""
    found = re.match(rf"{file}(?::(?P<line>\d+))?: (?P<what>.*)", message, re.DOTALL)
    line, what = found.groups() if found else (None, message)
    return Complaint(where, int(line) if line else None, what, "")


def _lint_use(file: _File) -> Iterator[Complaint]:
    """What only loading and rendering shows, language by language."""
    said: dict[str, None] = {}
    for language in _languages(file):
        try:
            describe(load_protocol(str(file.path), language))
        except ConfigurationError as error:
            said[str(error).removeprefix("Jinja2 template error: ")] = None
    for message in said:
        named = re.match(r"[^\s:]+(?=:)", message)
        if named is None or named[0] in {file.path.name, str(file.path)}:
            yield replace(_located(message, r"[^\s:]+", file.where), line=None)
        else:
            yield _located(message, r"[^\s:]+", str(Path(file.where).parent / named[0]))
