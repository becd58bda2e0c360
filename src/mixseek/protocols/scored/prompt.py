"""What a judge is asked, in which shape it must answer, and who it must say judged what."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, get_args

from mixseek.domain.judgments import Flag, Method, Reply
from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError
from mixseek.protocols.identity import Relation, is_same_model, judge_identity, relate
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.reply_reader import FieldReader, closed_object, means_sample
from mixseek.protocols.rubric import TaskRubric, read_task_rubric
from mixseek.protocols.scored.parameters import (
    FLAGS,
    IdentityField,
    IdentityRole,
    SampleRole,
    ScoredParameters,
    in_language,
    maxima_of,
    spoken,
    total_range,
)
from mixseek.templating import fence, unused_nonce

# Who judged what, as the reply says it, against what is known.

# What a sample fixes before anybody is asked: its task type, its task rubric, and what its names must be.

# A sample that lacks one of these cannot be placed in the grid of judgments (seed 003 §0).
GRID_ROLES = ("question_id", "prompt_variant", "target_model")
_LONGEST_NAME = 200
# Controls, direction marks, line and paragraph separators.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
# What says which sample a reply is about; the rest says who judged, how and when.
SAMPLE_ROLES = frozenset(get_args(SampleRole))


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """`task_type` is None where the judge has to infer it; `problem` says why the sample cannot be judged at all."""

    sample: Sample
    rubric: TaskRubric | None
    task_type: str | None
    problem: str | None

    def expected(self, role: IdentityRole) -> str | None:
        """What the sample says; None where it says nothing, or the role is not the sample's."""
        if role not in SAMPLE_ROLES:
            return None
        # Roles of a sample are called as its fields are. An empty cell of a table says nothing.
        said: str = getattr(self.sample, role) or ""
        if not said.strip() and role == "output_id":
            # Seed 003 §0: a file name or any unique mark, which the id is.
            said = self.sample.id
        if not said.strip() and role == "task_name" and self.rubric is not None:
            said = self.rubric.task_name or ""
        return said if said.strip() else None

    def missing(self, parameters: ScoredParameters) -> tuple[str, ...]:
        """What the protocol identifies samples by, and this one does not have."""
        return tuple(role for role in grid_roles(parameters) if not self.expected(role))


def shown_name(name: str) -> str:
    """One line, and no longer than a name is: names come with the judged text, so they could hold instructions."""
    line = " ".join(_UNSEEN.sub(" ", name).split())
    if len(line) <= _LONGEST_NAME:
        return line
    # The digest keeps two long names apart.
    return f"{line[: _LONGEST_NAME - 18].rstrip()}… {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"


def fenced_question(sample: Sample, nonce: str) -> dict[str, Any]:
    """What a response is held against, for the templates."""
    truth = sample.ground_truth
    return {
        "question": fence(sample.question, "QUESTION", nonce),
        "ground_truth": "" if truth is None else fence(truth, "GROUND_TRUTH", nonce),
        "ground_truth_alternatives": [
            fence(text, f"GROUND_TRUTH_ALTERNATIVE_{number}", nonce)
            for number, text in enumerate(sample.ground_truth_alternatives, start=1)
        ],
    }


def facts_of(sample: Sample, parameters: ScoredParameters) -> SampleFacts:
    """Never raises."""
    types, is_told = tuple(parameters.task_types.types), bool(parameters.task_types.field)
    rubric = None if sample.rubric is None else _read_rubric(sample.rubric, types)
    if not types or (len(types) == 1 and not is_told):
        # Weights that are the same for every sample need no name; one that the dataset has is about something else.
        return SampleFacts(sample, rubric, types[0] if types else None, None)
    named, source = (sample.task_type or "").strip(), "task_type"
    if not named and rubric is not None:
        named, source = rubric.task_type or rubric.unknown_task_type or "", "rubric's task_type"
    # A column in capitals means the same type; a reply is not read so kindly.
    known = named if named in types else next((one for one in types if one.casefold() == named.casefold()), None)
    problem = None
    if named and known is None:
        problem = f"its {source} {named!r} is not one of {', '.join(types)}"
    elif not named and len(types) == 1:
        known = types[0]
    elif not named and not is_told:
        problem = f"it has no task_type; one of {', '.join(types)} is needed"
    return SampleFacts(sample, rubric, known, problem)


def refuse_unaskable(facts: SampleFacts, parameters: ScoredParameters, protocol: str) -> None:
    """Raises DatasetError for a sample whose reply could never be valid: asking would only cost money."""
    sample = facts.sample
    if facts.problem is not None:
        raise DatasetError(f"sample {sample.id!r}: {facts.problem}")
    if parameters.task_rubric.required and not (sample.rubric or "").strip():
        raise DatasetError(
            f"sample {sample.id!r} has no rubric, which the {protocol} protocol grades by; "
            "give the directory of the task rubrics, or a column rubric"
        )
    if missing := facts.missing(parameters):
        raise DatasetError(
            f"sample {sample.id!r} has no {', '.join(missing)}, which the {protocol} protocol identifies samples by; "
            "add the column, or map one with --map"
        )


def grid_roles(parameters: ScoredParameters) -> tuple[IdentityRole, ...]:
    """What places a sample in the grid, of what a reply must repeat; its own id is not among them."""
    declared = parameters.identity.fields.values()
    return tuple(field.equals for field in declared if field.required and field.equals in GRID_ROLES)


# A run has few rubrics and many samples.
@lru_cache(maxsize=256)
def _read_rubric(text: str, types: tuple[str, ...]) -> TaskRubric:
    return read_task_rubric(text, types) if types else read_task_rubric(text)


METHODS = (Method.CROSS_JUDGE.value, Method.SELF_JUDGE.value)
# A judge that calls itself otherwise is remarkable and no reason to lose its judgment: models seldom know their name.
JUDGE_NAMES_ITSELF_OTHERWISE = "judge_names_itself_otherwise"

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def check_identity(
    fields: FieldReader, reply: Reply, facts: SampleFacts, parameters: ScoredParameters
) -> tuple[Relation, dict[str, Any], list[str]]:
    """How it was judged, the fields as the judge wrote them, and warnings; objections go to `fields`."""
    declared, place = parameters.identity.fields, parameters.identity.place
    reader: FieldReader | None = fields
    if place and declared:
        is_needed = any(field.required for field in declared.values()) or fields.given(place) is not None
        reader = fields.nested(place, Flag.INCOMPLETE_COVERAGE) if is_needed else None
    # A replay hands on what others wrote; where the record names nobody, nothing is known of the judge.
    identity = judge_identity(reply)
    judge = None if identity.split(":", 1)[0] == "replay" else identity
    said = next((reader.given(name) for name, field in declared.items() if reader and field.equals == "judge"), None)
    claimed = said if isinstance(said, str) and said.strip() else None
    relation = relate(judge or claimed, facts.sample.target_model, parameters.families)
    named: dict[str, Any] = {}
    is_bundled = bool(reply.details.get("bundle"))
    for name, field in declared.items():
        if reader is None:
            break
        _check_field(reader, name, field, facts.expected(field.equals), relation, is_bundled=is_bundled)
        if reader.has(name):
            named[name] = reader.given(name)
    differs = judge is not None and claimed is not None and not is_same_model(judge, claimed, parameters.families)
    return relation, named, [JUDGE_NAMES_ITSELF_OTHERWISE] if differs else []


def _check_field(
    reader: FieldReader,
    name: str,
    field: IdentityField,
    expected: str | None,
    relation: Relation,
    *,
    is_bundled: bool,
) -> None:
    is_unnamed = field.equals == "task_name" and expected is None
    if reader.given(name) is None and (not field.required or is_unnamed):
        return
    if field.equals in SAMPLE_ROLES:
        _check_sample_name(reader, name, field.equals, expected, is_bundled=is_bundled)
    elif field.equals == "method":
        given = reader.choice(name, METHODS)
        if given is not None and given != relation.method.value:
            said = f"{reader.path}{name} is {excerpt(given)}"
            reader.contradiction(f"{said}, but judge and target make it {relation.method.value}")
    else:
        given = reader.text(name)
        if field.equals == "date" and given and given.strip() and not _is_date(given):
            reader.violation(f"{reader.path}{name} is {excerpt(given)}, expected YYYY-MM-DD or nothing")
        elif field.equals == "judge" and given is not None and not given.strip():
            reader.note(Flag.INCOMPLETE_COVERAGE, f"{reader.path}{name} is empty, but it names the judge")


def _check_sample_name(
    reader: FieldReader, name: str, role: IdentityRole, expected: str | None, *, is_bundled: bool
) -> None:
    given = reader.identifier(name)
    if given is None:
        return
    if is_bundled and expected is not None and _is_meant(given, expected, role):
        return
    if not given.strip() and expected != given:
        reader.note(Flag.INCOMPLETE_COVERAGE, f"{reader.path}{name} is empty, but it names the sample")
    elif expected is not None and given not in {expected, shown_name(expected)}:
        said = f"{reader.path}{name} is {excerpt(given)}"
        reader.contradiction(f"{said}, but the sample's {role} is {excerpt(expected)}")


def _is_meant(given: str, expected: str, role: IdentityRole) -> bool:
    """As entries of a bundle are brought together with samples: without case, and names of outputs without more."""
    if role in ("id", "output_id"):
        return means_sample(given, expected)
    return given.strip().casefold() == expected.strip().casefold()


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and date.fromisoformat(text) is not None
    except ValueError:
        return False


# The parts of a reply, each with an example for the prompt and a JSON schema for endpoints that can constrain.

_OPEN = "…"
# Marks what is a number: shown without quotation marks, or judges would give their scores as texts.
_NUMBER = "\ue000"
_QUOTED_NUMBER = re.compile(f'"{_NUMBER}([^"]*)"')
# Short ranges are enums, because not every endpoint takes bounds; beyond this an enum is longer than it is useful.
_MOST_VALUES = 21

_Part = tuple[str, Any, dict[str, Any]]


def reply_example(facts: SampleFacts, parameters: ScoredParameters) -> str:
    """JSON but for ranges such as 0–2. Without the sample's names: the system message is the same for all of a task."""
    example = {name: shown for name, shown, _ in _parts(parameters, facts.task_type)}
    return _QUOTED_NUMBER.sub(r"\1", json.dumps(example, ensure_ascii=False, indent=2))


def reply_schema(parameters: ScoredParameters) -> Mapping[str, Any]:
    """Every key is required and optional ones may be null: endpoints with strict schemas know no other way."""
    return closed_object({name: schema for name, _, schema in _parts(parameters, None)})


def _parts(parameters: ScoredParameters, task_type: str | None) -> Iterator[_Part]:
    """In the order in which `top_level_names` gives their names."""
    identity = parameters.identity
    named = {}
    for name, field in identity.fields.items():
        # A task without a name of its own may be left unnamed.
        may_be_null = not field.required or field.equals == "task_name"
        text = _NULLABLE_TEXT if may_be_null else _TEXT
        named[name] = _one_of(METHODS, may_be_null) if field.equals == "method" else text
    if identity.place and named:
        yield identity.place, dict.fromkeys(named, _OPEN), closed_object(named)
    else:
        yield from ((name, _OPEN, schema) for name, schema in named.items())
    yield from _task_type_parts(parameters, task_type)
    yield from _score_parts(parameters, task_type)
    if parameters.verdict.field:
        yield parameters.verdict.field, " | ".join(parameters.verdict.rules), _one_of(parameters.verdict.rules)
    if parameters.flags.field:
        yield parameters.flags.field, [], {"type": "array", "items": _one_of(FLAGS)}
    if parameters.reasons.field:
        yield parameters.reasons.field, *_text_for_each_dimension(parameters)
    for name, gate in parameters.gates.items():
        yield name, False, {"type": "boolean"}
        if gate.reason_field:
            yield gate.reason_field, None, _NULLABLE_TEXT
    for name, choice in parameters.choices.items():
        yield name, " | ".join(choice.options), _one_of(choice.options, nullable=not choice.required)
    evidence = parameters.evidence
    if evidence.field and evidence.policy != "off":
        if evidence.form == "map":
            yield evidence.field, *_text_for_each_dimension(parameters)
        else:
            yield _quote_part(parameters)
    for name, one in parameters.texts.items():
        yield name, _OPEN, _TEXT if one.required else _NULLABLE_TEXT


_TEXT: dict[str, Any] = {"type": "string"}
_NULLABLE_TEXT: dict[str, Any] = {"type": ["string", "null"]}


def _one_of(words: Iterable[str], nullable: bool = False) -> dict[str, Any]:
    return {**_NULLABLE_TEXT, "enum": [*words, None]} if nullable else {**_TEXT, "enum": list(words)}


def _text_for_each_dimension(parameters: ScoredParameters) -> tuple[dict[str, str], dict[str, Any]]:
    return dict.fromkeys(parameters.dimensions, _OPEN), closed_object(dict.fromkeys(parameters.dimensions, _TEXT))


def _quote_part(parameters: ScoredParameters) -> _Part:
    evidence = parameters.evidence
    example = {evidence.dimension_field: next(iter(parameters.dimensions)), evidence.quote_field: _OPEN}
    schema = {evidence.dimension_field: _one_of(parameters.dimensions), evidence.quote_field: _TEXT}
    if evidence.reason_field:
        example[evidence.reason_field] = _OPEN
        schema[evidence.reason_field] = _TEXT
    return evidence.field, [example], {"type": "array", "items": closed_object(schema)}


def _task_type_parts(parameters: ScoredParameters, task_type: str | None) -> Iterator[_Part]:
    types = parameters.task_types
    all_types = " | ".join(types.types)
    if types.field:
        yield types.field, task_type or all_types, _one_of(types.types)
    if types.inferred_field:
        yield types.inferred_field, None if task_type else all_types, _one_of(types.types, nullable=True)
    if types.weights_field:
        tables = [one.weights for one in types.types.values()]
        schemas = {
            key: {"type": "number", "enum": list(dict.fromkeys(table[key] for table in tables))}
            for key in parameters.dimensions
        }
        unknown = dict.fromkeys(parameters.dimensions, _NUMBER + _OPEN)
        yield types.weights_field, types.types[task_type].weights if task_type else unknown, closed_object(schemas)


def _score_parts(parameters: ScoredParameters, task_type: str | None) -> Iterator[_Part]:
    minimum, total = parameters.scale.minimum, parameters.total
    is_whole = parameters.scale.values == "integer"
    examples = {key: f"{_NUMBER}{minimum}–{top}" for key, top in maxima_of(parameters, task_type).items()}
    schemas = {key: _number_schema(minimum, top, is_whole) for key, top in maxima_of(parameters, None).items()}
    lowest, highest = total_range(parameters, task_type or next(iter(parameters.task_types.types), None))
    example = f"{_NUMBER}{lowest}–{highest}"
    ends = total_range(parameters, None)
    schema = _number_schema(*ends, is_whole and all(isinstance(end, int) for end in ends))
    if total.field and total.place == "inside":
        examples[total.field], schemas[total.field] = example, schema
    yield parameters.scores.field, examples, closed_object(schemas)
    if total.field and total.place == "beside":
        yield total.field, example, schema


def _number_schema(minimum: int | float, maximum: int | float, is_whole: bool) -> dict[str, Any]:
    if is_whole and maximum - minimum < _MOST_VALUES:
        return {"type": "integer", "enum": list(range(int(minimum), int(maximum) + 1))}
    return {"type": "integer" if is_whole else "number", "description": f"{minimum} to {maximum}"}


# What a scored protocol's templates may say: everything that the declaration fixes, and the sample inside fences.

# The same for system and user templates. docs/protocols.md tells what each of them holds.
VARIABLES = frozenset(
    {
        *("nonce", "question", "response", "ground_truth", "ground_truth_alternatives"),
        *("sample", "Task_Specific_Rubric", "task_type", "judge"),
        *("instructions", "dimensions", "scale", "task_types", "total", "gates", "verdicts", "thresholds"),
        *("evidence", "reasons", "choices", "texts", "flags", "methods", "reply_example", "reply_mode"),
    }
)


def prompt_variables(
    facts: SampleFacts, nonce: str, judge: str | None, parameters: ScoredParameters, language: str
) -> dict[str, Any]:
    """Judged text stands in fences of one nonce; the task rubric is the experimenter's own text and stands as it is."""
    sample = facts.sample
    rubric = facts.rubric.text if facts.rubric is not None else ""
    identity = _identity(facts, judge, parameters)
    shown = json.dumps(identity, ensure_ascii=False, indent=2)
    truths = [text for text in (sample.ground_truth, *sample.ground_truth_alternatives) if text is not None]
    nonce = unused_nonce(nonce, (sample.question, sample.response, rubric, shown, *truths))
    return {
        "nonce": nonce,
        "response": fence(sample.response, "RESPONSE", nonce),
        **fenced_question(sample, nonce),
        # JSON, so that a name of several lines or with quotation marks stays one value on one line.
        "sample": shown,
        "Task_Specific_Rubric": rubric,
        "task_type": facts.task_type,
        "judge": judge,
        "reply_example": reply_example(facts, parameters),
        **declared_variables(parameters, language, facts.task_type),
    }


def declared_variables(parameters: ScoredParameters, language: str, task_type: str | None) -> dict[str, Any]:
    """What the declaration says, in the prompt's language; maxima are those of the task type where it is known."""
    scale = parameters.scale
    is_open = scale.maximum is None and task_type is None
    maxima = maxima_of(parameters, task_type)
    lowest, highest = total_range(parameters, task_type or next(iter(parameters.task_types.types), None))
    return {
        "instructions": in_language(parameters.instructions, language),
        "dimensions": [
            {
                "key": key,
                **spoken(one, language),
                "label": one.label or key,
                "minimum": scale.minimum,
                "maximum": None if is_open else maxima[key],
            }
            for key, one in parameters.dimensions.items()
        ],
        "scale": {
            "minimum": scale.minimum,
            "maximum": scale.maximum,
            "is_integer": scale.values == "integer",
            "labels": [{"value": value, "text": in_language(text, language)} for value, text in scale.labels.items()],
        },
        "task_types": [{"name": name, **spoken(one, language)} for name, one in parameters.task_types.types.items()],
        "total": {
            "field": parameters.total.field,
            "is_inside": parameters.total.place == "inside",
            "minimum": lowest,
            "maximum": highest,
            "is_weighted": parameters.total.rule == "weighted_sum",
        },
        **_declared_rules(parameters, language),
    }


def _declared_rules(parameters: ScoredParameters, language: str) -> dict[str, Any]:
    labels = {key: one.label or key for key, one in parameters.dimensions.items()}
    thresholds = {
        word: {
            "word": word,
            **rule.model_dump(),
            "nonzero": [labels[key] for key in rule.nonzero],
            "is_otherwise": rule.is_otherwise,
        }
        for word, rule in parameters.verdict.rules.items()
    }
    return {
        "gates": [
            {
                "name": name,
                **spoken(gate, language),
                "zeroes_all": gate.effect == "all_zero",
                "is_from_rubric": gate.conditions == "task_rubric",
            }
            for name, gate in parameters.gates.items()
        ],
        # In the order in which they are tried; empty where the judge is not asked for a verdict.
        "verdicts": list(thresholds.values()) if parameters.verdict.field else [],
        "thresholds": thresholds,
        "evidence": parameters.evidence.model_dump(mode="json"),
        "reasons": parameters.reasons.model_dump(mode="json"),
        "choices": [
            {
                "name": name,
                "required": choice.required,
                "options": [
                    {"word": word, "description": in_language(choice.descriptions.get(word, ""), language)}
                    for word in choice.options
                ],
            }
            for name, choice in parameters.choices.items()
        ],
        "texts": [{"name": name, **spoken(text, language)} for name, text in parameters.texts.items()],
        "flags": {"field": parameters.flags.field, "words": list(FLAGS)},
        "methods": list(METHODS),
        "reply_mode": parameters.reply_mode.value,
    }


def _identity(facts: SampleFacts, judge: str | None, parameters: ScoredParameters) -> dict[str, Any]:
    """What the reply has to repeat: all that is known before it is asked for, method included."""
    identity: dict[str, Any] = {}
    for name, field in parameters.identity.fields.items():
        if field.equals in SAMPLE_ROLES:
            expected = facts.expected(field.equals)
            identity[name] = expected if expected is None else shown_name(expected)
        elif judge is not None and field.equals == "judge":
            identity[name] = judge
        elif judge is not None and field.equals == "method":
            identity[name] = relate(judge, facts.sample.target_model, parameters.families).method.value
    if parameters.task_types.field:
        identity[parameters.task_types.field] = facts.task_type
    return identity
