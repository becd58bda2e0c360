"""Dimensions and gates as questions for a decision endpoint, and what its answers come to by the protocol's rules."""

from collections.abc import Iterator
from typing import Any

from mixseek.domain.decisions import MOST_OPTIONS, TRUE, AnswerOption, QuestionKind, QuestionSet
from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Reply
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import ProtocolDeclaration
from mixseek.protocols.identity import Relation, judge_identity, relate
from mixseek.protocols.questions import FieldQuestion, make_questions
from mixseek.protocols.replies.decision_answers import DecisionReading
from mixseek.protocols.scored.arithmetic import total_of, verdict_of
from mixseek.protocols.scored.certainty import GivenScores, KnownShares
from mixseek.protocols.scored.languages import in_language
from mixseek.protocols.scored.parameters import ScoredParameters
from mixseek.protocols.scored.prompt import window_for
from mixseek.protocols.scored.sample_facts import SampleFacts
from mixseek.protocols.transcripts import Window

Number = int | float


@dataclass(frozen=True, slots=True)
class DecidedScores:
    """What `CheckedReply` is of a written reply: all that a judgment's fields are made of."""

    scores: dict[str, Number]
    total: Number
    verdict: str
    task_type: str | None
    gates: dict[str, tuple[bool | None, str | None]]
    relation: Relation
    window: Window
    given: GivenScores
    known: KnownShares

    # Nobody was asked for these.

    @property
    def words(self) -> dict[str, str]:
        return {}

    @property
    def reasons(self) -> dict[str, str]:
        return {}

    @property
    def identity(self) -> dict[str, Any]:
        return {}

    @property
    def warnings(self) -> list[str]:
        return []

    @property
    def inferred_task_type(self) -> None:
        return None

    @property
    def first_wrong_step(self) -> None:
        return None


def scored_questions(declaration: ProtocolDeclaration, settings: ScoredParameters) -> QuestionSet:
    """A question for each dimension and gate; none where the protocol demands what no such endpoint gives."""
    scale, policy = settings.scale, settings.evidence.policy
    if policy != "off":
        return QuestionSet(
            refusal=f"it demands evidence (evidence.policy={policy}), and a decision endpoint quotes nothing; judge "
            "without with --parameter evidence.policy=off"
        )
    if scale.values != "integer" or scale.maximum is None:
        return QuestionSet(refusal="its dimensions are scored by numbers, and not by a few levels")
    count = int(scale.maximum) - int(scale.minimum) + 1
    if count > MOST_OPTIONS:
        return QuestionSet(refusal=f"its scale has {count} levels, and decision endpoints take few")
    return make_questions(declaration, list(_fields(settings, declaration.language)))


def _fields(settings: ScoredParameters, language: str) -> Iterator[FieldQuestion]:
    scale, instructions = settings.scale, in_language(settings.instructions, language)
    labels = {value: in_language(words, language) for value, words in scale.labels.items()}
    numbers = range(int(scale.minimum), int(scale.maximum or 0) + 1)
    levels = [AnswerOption(str(number), labels.get(str(number), "")) for number in numbers]
    for name, dimension in settings.dimensions.items():
        texts = {
            "instructions": instructions,
            "title": in_language(dimension.title, language),
            "description": in_language(dimension.description, language),
        }
        yield FieldQuestion(name, QuestionKind.LEVELS, ("scored", "dimension"), levels, texts)
    for name, gate in settings.gates.items():
        texts = {"instructions": instructions, "title": name, "description": in_language(gate.description, language)}
        yield FieldQuestion(name, QuestionKind.PREDICATE, ("scored", "gate"), (), texts)


def decide_scores(
    reading: DecisionReading, reply: Reply, facts: SampleFacts, settings: ScoredParameters
) -> DecidedScores | InvalidJudgment:
    """The likeliest of everything; a gate that fails takes the scores as it does of a written reply."""
    if facts.problem is not None:
        finding = Finding(Flag.INCOMPLETE_COVERAGE, f"the sample cannot be aligned: {facts.problem}")
        return InvalidJudgment((finding,))
    if facts.task_type is None and settings.task_types.types:
        types = ", ".join(settings.task_types.types)
        detail = f"the sample has no task_type, and a decision endpoint infers none; one of {types} is needed"
        return InvalidJudgment((Finding(Flag.INCOMPLETE_COVERAGE, detail),))
    gates = {name: reading.likeliest(name) == TRUE for name in settings.gates}
    is_void = any(failed and settings.gates[name].effect == "all_zero" for name, failed in gates.items())
    scores: dict[str, Number] = {
        name: 0 if is_void else int(reading.likeliest(name) or 0) for name in settings.dimensions
    }
    total = total_of(settings, scores, facts.task_type)
    return DecidedScores(
        scores,
        total,
        verdict_of(settings, scores, total, [name for name, failed in gates.items() if failed]),
        facts.task_type,
        {name: (failed, None) for name, failed in gates.items()},
        relate(judge_identity(reply), facts.sample.target_model, settings.families),
        window_for(facts.sample, settings),
        GivenScores(scores, gates, facts.task_type),
        KnownShares(
            {name: reading.shares[name] for name in settings.dimensions},
            {name: reading.shares[name] for name in settings.gates},
        ),
    )
