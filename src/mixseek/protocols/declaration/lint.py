"""Everything that is wrong with a protocol's declaration and its templates, at once, with lines.

Loading stops at the first problem, because nothing may be asked by a broken protocol.
Whoever writes one wants to see them all.
"""

import copy
import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mixseek.errors import ConfigurationError
from mixseek.protocols.declaration.declaration import (
    Complaint,
    DeclarationFile,
    read_template,
    read_toml_text,
    unknown_among,
)
from mixseek.protocols.registry import describe, load_protocol, protocol_names
from mixseek.protocols.scored.parameters import (
    GateEffect,
    Scale,
    ScoredParameters,
    TotalRule,
    ValueKind,
    VerdictRule,
    maxima_of,
    missing_words,
    total_range,
    verdict_of,
    weights_of,
)
from mixseek.protocols.scored.prompt import VARIABLES
from mixseek.protocols.scored.protocol import DEFAULT_LANGUAGES, contradictions
from mixseek.settings.marked_text import parse_toml
from mixseek.templating.template import compile_template, undeclared_variables, used_variables

# Where in a TOML file a key stands: the parser gives values without lines, and a complaint needs a line.

_HEADER = re.compile(r"\s*\[{1,2}(?P<path>[^\[\]#]+)\]{1,2}")
_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_KEY = re.compile(rf"\s*(?P<path>{_PART}(?:\s*\.\s*{_PART})*)\s*=\s*(?P<value>.*)")
_INLINE_KEY = re.compile(rf"[{{,]\s*(?P<path>{_PART}(?:\s*\.\s*{_PART})*)\s*=")
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
            place = (*table, *_split(key["path"]))
            _note(lines, place, number)
            for inner in _INLINE_KEY.finditer(key["value"]) if key["value"].startswith("{") else ():
                _note(lines, (*place, *_split(inner["path"])), number)
            closing = _left_open(key["value"])
    return lines


def line_of(lines: Mapping[Place, int], place: Sequence[object]) -> int | None:
    """The line of the place or of the nearest table around it."""
    names = tuple(str(part) for part in place)
    for length in range(len(names), 0, -1):
        if names[:length] in lines:
            return lines[names[:length]]
    return None


def _note(lines: dict[Place, int], place: Place, number: int) -> None:
    for length in range(1, len(place) + 1):
        lines.setdefault(place[:length], number)


def _split(path: str) -> Place:
    return tuple(part.strip("\"'") for part in _PARTS.findall(path))


def _left_open(value: str) -> str:
    """The marks of a text of several lines that begins here and does not end here."""
    for marks in ('"""', "'''"):
        if value.count(marks) % 2:
            return marks
    return ""


# What pydantic says about a declaration, as complaints with a line and the key that was probably meant.

_MAX_NAMED = 12


def complaints_of(
    error: ValidationError,
    model: type[BaseModel],
    given: Mapping[str, Any],
    where: str,
    lines: Mapping[Place, int],
    prefix: Place = (),
) -> Iterator[Complaint]:
    """One for each place; `prefix` is where in the file the validated table stands."""
    said: dict[Place, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        kind, location = problem["type"], problem["loc"]
        place = _place_in_file(location, given, is_missing=kind == "missing")
        whole = (*prefix, *place)
        if kind == "extra_forbidden":
            what = f"unknown key {'.'.join(whole)}"
            yield Complaint(where, line_of(lines, whole), what, _meant(place[-1], fields_at(model, place)))
        elif kind == "missing":
            yield Complaint(where, line_of(lines, whole), f"{'.'.join(whole)} is missing", "add it")
        else:
            said.setdefault(whole, []).append(problem["msg"].removeprefix("Value error, "))
    for whole, messages in said.items():
        # A choice of types objects once for each of them.
        text = " or ".join(dict.fromkeys(messages))
        name = ".".join(whole)
        yield Complaint(where, line_of(lines, whole), f"{name}: {text}" if name else text, "")


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
    close = difflib.get_close_matches(key[:60], known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"remove it; known here: {', '.join(known[:_MAX_NAMED])}" if known else "remove it"


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

# Whole totals up to here are enumerated; beyond, and for decimals, the thresholds and their neighbours are tried.
_MAX_STATES = 20_000
# Gates that fail together: all subsets up to this many gates, single ones beyond.
_MAX_GATES = 6
_STEP = 1e-6

# A total and the dimensions that are not zero, of those that a rule asks about.
_State = tuple[int | float, frozenset[str]]


def unreachable_verdicts(parameters: ScoredParameters) -> dict[str, str]:
    """Each word that no reply can lead to, with the reason."""
    rules = parameters.verdict.rules
    reached: set[str] = set()
    for task_type in parameters.task_types.types or (None,):
        for failed in _failed_gates(parameters):
            if len(reached) == len(rules):
                return {}
            for total, nonzero in _states(parameters, task_type, failed):
                scores = {key: int(key in nonzero) for key in parameters.dimensions}
                reached.add(verdict_of(parameters, scores, total, failed))
    return {word: _why(parameters, word) for word in rules if word not in reached}


def _failed_gates(parameters: ScoredParameters) -> Iterator[frozenset[str]]:
    gates = tuple(parameters.gates)
    sizes = range(len(gates) + 1) if len(gates) <= _MAX_GATES else (0, 1)
    for size in sizes:
        for failed in combinations(gates, size):
            yield frozenset(failed)


def _states(parameters: ScoredParameters, task_type: str | None, failed: frozenset[str]) -> Iterator[_State]:
    if any(parameters.gates[name].effect is GateEffect.ALL_ZERO for name in failed):
        yield 0, frozenset()
        return
    asked = {key for rule in parameters.verdict.rules.values() for key in rule.nonzero}
    whole = _whole_states(parameters, task_type, asked) if parameters.scale.values is ValueKind.INTEGER else None
    yield from whole if whole is not None else _sampled_states(parameters, task_type, asked)


def _factors(parameters: ScoredParameters, task_type: str | None) -> dict[str, int | float]:
    if parameters.total.rule is TotalRule.WEIGHTED_SUM:
        return dict(weights_of(parameters, task_type))
    return dict.fromkeys(parameters.dimensions, 1)


def _whole_states(parameters: ScoredParameters, task_type: str | None, asked: set[str]) -> set[_State] | None:
    """Every state, dimension by dimension: many score vectors share one, so this stays small where vectors explode."""
    factors, maxima = _factors(parameters, task_type), maxima_of(parameters, task_type)
    states: set[_State] = {(0, frozenset())}
    for key in parameters.dimensions:
        values = range(int(parameters.scale.minimum), int(maxima[key]) + 1)
        if len(states) * len(values) > _MAX_STATES * 20:
            return None
        states = {
            (total + factors[key] * value, nonzero | {key} if value and key in asked else nonzero)
            for (total, nonzero), value in product(states, values)
        }
        if len(states) > _MAX_STATES:
            return None
    return states


def _sampled_states(parameters: ScoredParameters, task_type: str | None, asked: set[str]) -> Iterator[_State]:
    """Totals at, just below and just above each threshold and end, for every set of dimensions that can be zero."""
    scale, factors, maxima = parameters.scale, _factors(parameters, task_type), maxima_of(parameters, task_type)
    tried = {edge + shift for edge in _edges(parameters, task_type) for shift in (-_STEP, 0, _STEP)}
    for size in range(len(asked) + 1):
        for zeros in combinations(sorted(asked), size):
            ranges = [
                (0, 0) if key in zeros else (factors[key] * _lowest(scale, key in asked), factors[key] * maxima[key])
                for key in parameters.dimensions
            ]
            low, high = sum(low for low, _ in ranges), sum(high for _, high in ranges)
            if zeros and not _holds_zero(scale):
                continue
            for total in sorted(tried):
                if low - _STEP / 2 <= total <= high + _STEP / 2:
                    yield total, frozenset(asked - set(zeros))


def _lowest(scale: Scale, is_nonzero: bool) -> float:
    return _STEP / 100 if is_nonzero and scale.minimum == 0 else scale.minimum


def _holds_zero(scale: Scale) -> bool:
    return scale.minimum <= 0 <= (scale.maximum if scale.maximum is not None else 0)


def _edges(parameters: ScoredParameters, task_type: str | None) -> set[int | float]:
    edges: set[int | float] = set(total_range(parameters, task_type))
    for rule in parameters.verdict.rules.values():
        edges |= {edge for edge in (rule.at_least, rule.at_most) if edge is not None}
    return edges


def _why(parameters: ScoredParameters, word: str) -> str:
    rule = parameters.verdict.rules[word]
    types: tuple[str | None, ...] = tuple(parameters.task_types.types) or (None,)
    lowest = min(total_range(parameters, name)[0] for name in types)
    highest = max(total_range(parameters, name)[1] for name in types)
    if rule.at_least is not None and rule.at_least > highest:
        return f"at_least {rule.at_least:g} is above the highest total {highest:g}"
    if rule.at_most is not None and rule.at_most < lowest:
        return f"at_most {rule.at_most:g} is below the lowest total {lowest:g}"
    if rule.at_least is not None and rule.at_most is not None and rule.at_least > rule.at_most:
        return f"at_least {rule.at_least:g} is above its own at_most {rule.at_most:g}"
    earlier = _names_before(parameters.verdict.rules, word)
    return f"whatever it would match is matched by {earlier} before it" if earlier else "no reply can meet it"


def _names_before(rules: dict[str, VerdictRule], word: str) -> str:
    names = list(rules)
    return " or ".join(names[: names.index(word)])


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
        yield _located(str(error), re.escape(where), where)
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


def _located(message: str, file: str, where: str) -> Complaint:
    """A message of loading, which begins with `FILE:LINE:` or `FILE:`; `where` is what the reader calls FILE."""
    found = re.match(rf"{file}(?::(?P<line>\d+))?: (?P<what>.*)", message, re.DOTALL)
    if found is None:
        return Complaint(where, None, message, "")
    return Complaint(where, int(found["line"]) if found["line"] else None, found["what"], "")


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
