"""How an LLM metric is asked and what its reply must satisfy: each criterion reasoned, then scored, then summed."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.protocols.identity import method_of
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.injected import repetitions
from mixseek.protocols.reply.json import Repair, ReplyMode, canonical, excerpt
from mixseek.protocols.reply.reader import read_reply
from mixseek.templating.template import compile_template

# What the built-in metrics look at. The points of a metric's criteria sum to 100, so their sum is its score.


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to look at; `wording` by language."""

    name: str
    points: int
    wording: Mapping[str, str]

    def text(self, language: str) -> str:
        """In that language; criteria of a user have one wording for all."""
        return self.wording.get(language) or next(iter(self.wording.values()))


ROLES: Mapping[str, Mapping[str, str]] = {
    "ClarityCoherence": {
        "en": "You judge how clearly a submission is written and how well its parts hold together. Whether its "
        "content is right is somebody else's question.",
        "ja": "あなたは提出内容の明瞭さと、各部分のまとまりを評価します。内容が正しいかどうかは、ここでは問いません。",
        "zh": "你评价提交内容写得是否清晰、各部分是否连贯。内容是否正确不在此评价之列。",
    },
    "Coverage": {
        "en": "You judge how completely a submission deals with everything that the user query asks for, said or "
        "plainly implied.",
        "ja": "あなたは提出内容が、ユーザクエリの求めていること（明示されたものと、明らかに含意されるもの）を"
        "どれだけ漏れなく扱っているかを評価します。",
        "zh": "你评价提交内容是否完整地处理了用户问题的全部要求，包括明确提出的和显然隐含的。",
    },
    "Relevance": {
        "en": "You judge how closely a submission keeps to what the user query asks for. Text that helps nobody "
        "who asked this is a fault, however well it is written.",
        "ja": "あなたは提出内容がユーザクエリの求めに沿っているかを評価します。質問者の役に立たない文章は、"
        "どれほど上手に書かれていても減点の対象です。",
        "zh": "你评价提交内容是否紧扣用户问题的要求。对提问者没有帮助的文字，写得再好也要扣分。",
    },
    "LLMPlain": {
        "en": "You judge how good a submission is as an answer to the user query.",
        "ja": "あなたは提出内容がユーザクエリへの回答としてどれだけ優れているかを評価します。",
        "zh": "你评价提交内容作为对用户问题的回答有多好。",
    },
}

CRITERIA: Mapping[str, tuple[Criterion, ...]] = {
    "ClarityCoherence": (
        Criterion(
            "structure",
            30,
            {
                "en": "The order of the parts can be followed without going back; headings, lists and paragraphs help.",
                "ja": "読み返さずに構成を追えるか。見出し・箇条書き・段落が理解を助けているか。",
                "zh": "不必回头重读就能跟上结构；标题、列表和段落有助于理解。",
            },
        ),
        Criterion(
            "wording",
            30,
            {
                "en": "Sentences say one thing each, in plain and exact words; terms are explained where needed.",
                "ja": "一文一義で、平易かつ正確な言葉か。必要な用語は説明されているか。",
                "zh": "每句话只说一件事，用词平实而准确；必要的术语有解释。",
            },
        ),
        Criterion(
            "consistency",
            40,
            {
                "en": "No part contradicts another; names, numbers and conclusions agree throughout.",
                "ja": "矛盾がないか。名称・数値・結論が全体で一致しているか。",
                "zh": "各部分互不矛盾；名称、数值和结论前后一致。",
            },
        ),
    ),
    "Coverage": (
        Criterion(
            "requirements",
            50,
            {
                "en": "Each thing that the user query asks for is dealt with; name those that are not.",
                "ja": "ユーザクエリの各要求に応えているか。応えていないものがあれば名指しすること。",
                "zh": "用户问题的每一项要求都得到处理；如有遗漏，请一一指出。",
            },
        ),
        Criterion(
            "depth",
            30,
            {
                "en": "What is dealt with is dealt with far enough to be of use, with reasons, steps or examples.",
                "ja": "扱った事柄が、根拠・手順・例などによって役に立つ深さまで述べられているか。",
                "zh": "所涉及的内容有理由、步骤或例子，深入到足以有用的程度。",
            },
        ),
        Criterion(
            "limits",
            20,
            {
                "en": "Conditions, exceptions and open points that matter to this query are mentioned.",
                "ja": "このクエリにとって重要な条件・例外・未解決の点に触れているか。",
                "zh": "提到了对该问题重要的条件、例外和未解决之处。",
            },
        ),
    ),
    "Relevance": (
        Criterion(
            "answer",
            50,
            {
                "en": "The question that was asked is the question that is answered.",
                "ja": "問われたことに対して答えているか。",
                "zh": "回答的正是所问的问题。",
            },
        ),
        Criterion(
            "focus",
            30,
            {
                "en": "There is nothing that the query did not call for: no padding, no detours, no repetition.",
                "ja": "求められていないもの（水増し・脱線・繰り返し）がないか。",
                "zh": "没有问题未要求的内容：不凑字数、不离题、不重复。",
            },
        ),
        Criterion(
            "fit",
            20,
            {
                "en": "Form, length, language and level suit the query and whoever asked it.",
                "ja": "形式・長さ・言語・水準がクエリと質問者に合っているか。",
                "zh": "形式、长度、语言和水平适合该问题和提问者。",
            },
        ),
    ),
    "LLMPlain": (
        Criterion(
            "quality",
            100,
            {
                "en": "Overall quality as an answer: right, complete, to the point and clear.",
                "ja": "回答としての総合的な質。正確さ・網羅性・的確さ・明瞭さ。",
                "zh": "作为回答的总体质量：正确、完整、切题、清晰。",
            },
        ),
    ),
}


def check_criteria(criteria: tuple[Criterion, ...], where: str) -> tuple[Criterion, ...]:
    """Raises ConfigurationError unless the points sum to 100, which is the scale of every metric."""
    for criterion in criteria:
        if isinstance(criterion.points, bool) or not isinstance(criterion.points, int) or criterion.points < 1:
            raise ConfigurationError(f"{where}: criterion {criterion.name!r} needs whole points of 1 or more")
    total = sum(criterion.points for criterion in criteria)
    if total != 100:
        raise ConfigurationError(f"{where}: the criteria's points sum to {total}, expected 100; adjust them")
    return criteria


_VERSION = "1"
_PROMPTS = Path(__file__).parent / "prompts"
_FIELDS = ("criteria", "comment", "total_score")
_CRITERION_FIELDS = ("reason", "score")


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
    reply_mode: ReplyMode = ReplyMode.REPAIR
    version: str = _VERSION

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "reply_mode": self.reply_mode.value,
            "criteria": {
                criterion.name: {"points": criterion.points, "text": criterion.text(self.language)}
                for criterion in self.criteria
            },
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
        return hashlib.sha256(canonical(asked).encode()).hexdigest()

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
            criterion.name: {
                "type": "object",
                "properties": {
                    "reason": {"type": "string"},
                    "score": {"type": "integer", "enum": list(range(criterion.points + 1))},
                },
                "required": list(_CRITERION_FIELDS),
                "additionalProperties": False,
            }
            for criterion in self.criteria
        }
        return {
            "type": "object",
            "properties": {
                "criteria": {
                    "type": "object",
                    "properties": criteria,
                    "required": list(criteria),
                    "additionalProperties": False,
                },
                "comment": {"type": "string"},
                "total_score": {"type": "integer"},
            },
            "required": list(_FIELDS),
            "additionalProperties": False,
        }

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        """The submission is fenced by whoever renders the user prompt, with a nonce of its own."""
        return Message("system", self.system_prompt), Message("user", self.user_prompt(sample))

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """The sum is computed here; a reply that sums otherwise does not know its own score."""
        reading = read_reply(reply.text, self.reply_mode, _FIELDS)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        repairs = reading.repairs
        if fields.unknown_keys(_FIELDS):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        scores = self._read_criteria(reading.value, fields)
        comment = fields.text("comment")
        total = fields.integer("total_score", 0, 100)
        if total is not None and len(scores) == len(self.criteria):
            computed = sum(score for score, _ in scores.values())
            if computed != total:
                fields.note(
                    Flag.INTERNAL_INCONSISTENCY, f"total_score is {total}, but the criteria's scores sum to {computed}"
                )
        findings = (*reading.findings, *fields.findings, *repetitions(reading.value, sample))
        if findings or total is None:
            return InvalidJudgment(findings, repairs)
        judged = {
            "criteria": {name: {"reason": reason, "score": score} for name, (score, reason) in scores.items()},
            "comment": comment,
            "total_score": total,
        }
        return ValidJudgment(total / 100, f"{total}/100", judged, method_of(reply, sample), repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """No rule can say how clear a text is."""
        return Undecided(f"{self.name} has no rules; name a model as its judge")

    def _read_criteria(self, value: Mapping[str, Any], fields: FieldReader) -> dict[str, tuple[int, str]]:
        """Score and reason by criterion, without those that were objected to."""
        given = value.get("criteria")
        if not isinstance(given, Mapping):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"criteria is {excerpt(given)}, expected an object")
            return {}
        known = [criterion.name for criterion in self.criteria]
        for name in given:
            if name not in known:
                fields.note(Flag.PROTOCOL_VIOLATION, f"criteria.{excerpt(name)} is none of {', '.join(known)}")
        scores: dict[str, tuple[int, str]] = {}
        for criterion in self.criteria:
            one = given.get(criterion.name)
            if not isinstance(one, Mapping):
                fields.note(Flag.INCOMPLETE_COVERAGE, f"criteria.{criterion.name} is not judged ({excerpt(one)})")
                continue
            inner = FieldReader(one, f"criteria.{criterion.name}.")
            score, reason = inner.integer("score", 0, criterion.points), inner.text("reason")
            if reason is not None and not reason.strip():
                inner.note(Flag.INCOMPLETE_COVERAGE, f"criteria.{criterion.name}.reason is blank")
            fields.findings.extend(inner.findings)
            if score is not None and reason is not None:
                scores[criterion.name] = (score, reason)
        return scores
