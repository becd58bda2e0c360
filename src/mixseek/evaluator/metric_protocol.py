"""How an LLM metric is asked and what its reply must satisfy: each criterion reasoned, then scored, then summed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Flag, InvalidJudgment, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.protocols.identity import method_of
from mixseek.protocols.reply.injected import repetitions
from mixseek.protocols.reply.json import Repair, ReplyMode, excerpt, hash_of
from mixseek.protocols.reply.reader import FieldReader, closed_object, read_reply
from mixseek.settings.marked_text import parse_toml
from mixseek.templating import compile_template


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to look at; `wording` by language."""

    name: str
    points: int
    wording: Mapping[str, str]

    def text(self, language: str) -> str:
        """In that language; criteria of a user have one wording for all."""
        return self.wording.get(language) or next(iter(self.wording.values()))


_BUILT_IN = parse_toml(Path(__file__).with_name("criteria.toml").read_bytes().decode())
# By type of metric, then by language.
ROLES: Mapping[str, Mapping[str, str]] = {kind: table["role"] for kind, table in _BUILT_IN.items()}
CRITERIA: Mapping[str, tuple[Criterion, ...]] = {
    kind: tuple(Criterion(name, wording.pop("points"), wording) for name, wording in table["criteria"].items())
    for kind, table in _BUILT_IN.items()
}


def check_criteria(criteria: tuple[Criterion, ...], where: str) -> tuple[Criterion, ...]:
    """Raises ConfigurationError unless the points sum to 100, which is the scale of every metric."""
    total = sum(criterion.points for criterion in criteria)
    if total != 100:
        raise ConfigurationError(f"{where}: the criteria's points sum to {total}, expected 100; adjust them")
    return criteria


REPLY_MODE = ReplyMode.REPAIR
_PROMPTS = Path(__file__).parent / "prompts"
_FIELDS = ("criteria", "comment", "total_score")


def open_reply(reply: Reply, names: Sequence[str]) -> tuple[Mapping[str, Any], tuple[Repair, ...]] | InvalidJudgment:
    """The reply's object, and what had to be repaired; keys that nobody asked for are passed over."""
    reading = read_reply(reply.text, REPLY_MODE, names)
    if reading.value is None:
        return InvalidJudgment(reading.findings, reading.repairs)
    extra = (Repair.EXTRA_KEYS_IGNORED,) if reading.value.keys() - set(names) else ()
    return reading.value, (*reading.repairs, *extra)


def why_no_answer(outcome: InvalidJudgment | Undecided | Missing) -> str:
    """For a person who asks why there is no score, or no opinion."""
    if isinstance(outcome, InvalidJudgment):
        said = "; ".join(f"{finding.flag}: {finding.detail}" for finding in outcome.findings)
        return f"the judge's reply is invalid ({said})"
    return outcome.reason


def metric_template(language: str) -> str:
    """The text that every LLM metric shares, beside its own instruction."""
    if language not in LANGUAGES:
        raise ConfigurationError(f"evaluator.language {language!r}: available are {', '.join(LANGUAGES)}")
    return (_PROMPTS / f"metric.{language}.md.j2").read_bytes().decode()


@dataclass(frozen=True)
class MetricProtocol:
    """A JudgeProtocol of one metric; `user_prompt` renders what is judged, and is told apart by `user_template`."""

    name: str
    language: str
    instruction: str
    criteria: tuple[Criterion, ...]
    user_template: str
    user_prompt: Callable[[Sample], str]
    version: str = "1"

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "reply_mode": REPLY_MODE.value,
            "criteria": {one.name: {"points": one.points, "text": one.text(self.language)} for one in self.criteria},
        }

    @cached_property
    def hash(self) -> str:
        """Neither the metric's name in a race nor the time of asking counts: the same judgment is the same."""
        asked = {
            "name": self.name,
            "version": self.version,
            "kind": "metric",
            "language": self.language,
            "parameters": self.parameters,
            "instruction": self.instruction,
            "templates": {"system": metric_template(self.language), "user": self.user_template},
        }
        return hash_of(asked)

    @cached_property
    def system_prompt(self) -> str:
        """The metric's own instruction, its criteria, and the shape of the reply."""
        template = compile_template(
            metric_template(self.language), {"instruction", "criteria"}, f"metric.{self.language}.md.j2"
        )
        criteria = [{"name": one.name, "points": one.points, "text": one.text(self.language)} for one in self.criteria]
        return template.render({"instruction": self.instruction.strip(), "criteria": criteria})

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        """Reasons come before scores: models write what they have just read."""
        criteria = {
            one.name: closed_object(
                {"reason": {"type": "string"}, "score": {"type": "integer", "enum": list(range(one.points + 1))}}
            )
            for one in self.criteria
        }
        return closed_object(
            {"criteria": closed_object(criteria), "comment": {"type": "string"}, "total_score": {"type": "integer"}}
        )

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        """The submission is fenced by whoever renders the user prompt, with a nonce of its own."""
        return Message("system", self.system_prompt), Message("user", self.user_prompt(sample))

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """The sum is computed here; a reply that sums otherwise does not know its own score."""
        opened = open_reply(reply, _FIELDS)
        if isinstance(opened, InvalidJudgment):
            return opened
        value, repairs = opened
        fields = FieldReader(value)
        scores = self._read_criteria(fields)
        comment = fields.text("comment")
        total = fields.integer("total_score", 0, 100)
        computed = sum(one["score"] for one in scores.values())
        if total is not None and len(scores) == len(self.criteria) and computed != total:
            said = f"total_score is {total}, but the criteria's scores sum to {computed}"
            fields.note(Flag.INTERNAL_INCONSISTENCY, said)
        findings = (*fields.findings, *repetitions(value, sample))
        if findings or total is None:
            return InvalidJudgment(findings, repairs)
        judged = {"criteria": scores, "comment": comment, "total_score": total}
        return ValidJudgment(total / 100, f"{total}/100", judged, method_of(reply, sample), repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """No rule can say how clear a text is."""
        return Undecided(f"{self.name} has no rules; name a model as its judge")

    def _read_criteria(self, fields: FieldReader) -> dict[str, dict[str, Any]]:
        """Reason and score by criterion, without those that were objected to."""
        given = fields.given("criteria")
        if not isinstance(given, Mapping):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"criteria is {excerpt(given)}, expected an object")
            return {}
        known = [criterion.name for criterion in self.criteria]
        for name in given:
            if name not in known:
                fields.note(Flag.PROTOCOL_VIOLATION, f"criteria.{excerpt(name)} is none of {', '.join(known)}")
        scores: dict[str, dict[str, Any]] = {}
        for criterion in self.criteria:
            one = given.get(criterion.name)
            if not isinstance(one, Mapping):
                fields.note(Flag.INCOMPLETE_COVERAGE, f"criteria.{criterion.name} is not judged ({excerpt(one)})")
                continue
            inner = FieldReader(one, f"criteria.{criterion.name}.", fields.findings)
            score, reason = inner.integer("score", 0, criterion.points), inner.text("reason")
            if reason is not None and not reason.strip():
                inner.note(Flag.INCOMPLETE_COVERAGE, f"criteria.{criterion.name}.reason is blank")
            if score is not None and reason is not None:
                scores[criterion.name] = {"reason": reason, "score": score}
        return scores
