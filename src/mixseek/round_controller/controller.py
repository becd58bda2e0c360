"""One team from its first round to its last. Each step is stored before the next: a death costs one step."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, assert_never

from mixseek.domain.judgments import Flag, InvalidJudgment, Method, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.rounds import (
    DecidedBy,
    ExecutionStore,
    ImprovementJudgment,
    NoOpinion,
    Opinion,
    RoundDecision,
    RoundKey,
    RoundProgress,
    RoundState,
    StopReason,
    TeamProgress,
    counts_as_self_judged,
    methods_of,
)
from mixseek.domain.samples import Sample
from mixseek.engine.endpoint import EndpointDownError, HaltedError
from mixseek.engine.questions import Asker, Question
from mixseek.errors import AfterRoundError, ConfigurationError
from mixseek.evaluator.evaluator import Evaluator, describe_failure
from mixseek.evaluator.metrics import REPLY_MODE, EvaluationRequest, open_reply, why_no_answer
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.prompt_builder.formatters import read_clock
from mixseek.prompt_builder.models import RoundPromptContext
from mixseek.protocols.reply_json import hash_of
from mixseek.protocols.reply_reader import FieldReader, closed_object
from mixseek.settings.race import JUDGMENT_NAME, OutagePolicy, RoundsTable

# The model that is asked whether another round is worth it (seed 004).

_PROMPTS = Path(__file__).parent / "prompts"
_FIELDS = ("reasoning", "should_continue", "confidence_score")


@dataclass(frozen=True)
class JudgmentProtocol:
    """One question about one team; `user_prompt` is already rendered, because that reads the leader board."""

    user_prompt: str
    user_template: str
    language: str = "en"
    name: str = "improvement"
    version: str = "1"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ConfigurationError(f"judgment.language {self.language!r}: available are {', '.join(LANGUAGES)}")

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"reply_mode": REPLY_MODE.value}

    @cached_property
    def system_prompt(self) -> str:
        return (_PROMPTS / f"judgment.{self.language}.md").read_bytes().decode()

    @cached_property
    def hash(self) -> str:
        """Over what is asked of every team; the question about one of them has a name of its own."""
        asked = {
            "name": self.name,
            "version": self.version,
            "kind": "improvement",
            "language": self.language,
            "parameters": self.parameters,
            "templates": {"system": self.system_prompt, "user": self.user_template},
        }
        return hash_of(asked)

    @property
    def reply_schema(self) -> Mapping[str, Any]:
        """The reasons come first: models write what they have just read."""
        types = ("string", "boolean", "number")
        return closed_object({name: {"type": kind} for name, kind in zip(_FIELDS, types, strict=True)})

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        return Message("system", self.system_prompt), Message("user", self.user_prompt)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """Never raises; an opinion without reasons is none."""
        opened = open_reply(reply, _FIELDS)
        if isinstance(opened, InvalidJudgment):
            return opened
        value, repairs = opened
        fields = FieldReader(value)
        reasoning = fields.text("reasoning")
        if reasoning is not None and not reasoning.strip():
            fields.note(Flag.INCOMPLETE_COVERAGE, "reasoning is blank")
        should_continue = fields.boolean("should_continue")
        confidence = fields.number("confidence_score", 0, 1)
        if fields.findings or confidence is None:
            return InvalidJudgment(tuple(fields.findings), repairs)
        judged = {"reasoning": reasoning, "should_continue": should_continue, "confidence_score": float(confidence)}
        verdict = "continue" if should_continue else "stop"
        return ValidJudgment(float(bool(should_continue)), verdict, judged, Method.CROSS_JUDGE, repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """The rule that needs no model is the controller's own."""
        return Undecided("no rule says whether another round is worth it; name a model as the judge")


class JudgmentClient:
    """One judge for all teams; who has no answer has no opinion, and what follows is not for this class to say."""

    def __init__(self, asker: Asker, prompts: UserPromptBuilder, judge: str, *, language: str = "en") -> None:
        self._asker = asker
        self._prompts = prompts
        self._judge = judge
        self._language = language
        # A language without prompts is said now.
        JudgmentProtocol("", "", language)

    async def judge_improvement_prospects(
        self,
        user_query: str,
        round_history: Sequence[RoundState],
        *,
        team_id: str,
        team_name: str,
        execution_id: str,
        asks_anew: bool = False,
    ) -> ImprovementJudgment | NoOpinion:
        """The opinion on the round to come. `asks_anew`: an invalid reply of an earlier process is no answer."""
        prompt = await self._format_user_prompt(user_query, round_history, team_id, team_name, execution_id)
        protocol = JudgmentProtocol(prompt, self._prompts.settings.judgment_user_prompt, self._language)
        place = f"{team_id}/{len(round_history)}/{JUDGMENT_NAME}"
        latest = round_history[-1].submission_content if round_history else ""
        sample = Sample(place, response=latest, question=user_query)
        # By name: the prompt shows the leader board, which other teams change meanwhile.
        question = Question(protocol, sample, self._judge, identity=f"{execution_id}/{place}")
        try:
            answered = await self._asker.ask(question)
            while asks_anew and answered.is_recalled and isinstance(answered.outcome, InvalidJudgment):
                question = replace(question, repeat=question.repeat + 1)
                answered = await self._asker.ask(question)
        except EndpointDownError as error:
            return NoOpinion(str(error))
        if isinstance(answered.outcome, ValidJudgment):
            # Reasoning, yes or no, and confidence: its fields are those of a valid reply.
            return ImprovementJudgment(**answered.outcome.fields)
        return NoOpinion(why_no_answer(answered.outcome))

    async def _format_user_prompt(
        self, user_query: str, round_history: Sequence[RoundState], team_id: str, team_name: str, execution_id: str
    ) -> str:
        """Seed 004: the context is built here, and the round is the one that would come next."""
        context = RoundPromptContext(
            user_prompt=user_query,
            round_number=len(round_history) + 1,
            round_history=list(round_history),
            team_id=team_id,
            team_name=team_name,
            execution_id=execution_id,
            store=self._prompts.store,
        )
        return await self._prompts.build_judgment_prompt(context)


# The rounds of one team.


@dataclass(frozen=True, slots=True)
class Submission:
    """A text that is not blank, and what it took; `usage` is plain JSON."""

    text: str
    usage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailedSubmission:
    """A team that gave nothing that could be evaluated. Not a score of 0."""

    reason: str


class Team(Protocol):
    """Answers the task, round after round. Cancelling `submit` must leave nothing running."""

    @property
    def team_id(self) -> str: ...

    @property
    def team_name(self) -> str: ...

    @property
    def target_model(self) -> str | None:
        """The model that writes the submissions, where it is known."""
        ...

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        """Raises only what ends the whole competition."""
        ...


class Stage(StrEnum):
    """Where a team is; each is told when it begins, and the last three when they are stored."""

    WAITING = "waiting"
    WORKING = "working"
    EVALUATING = "evaluating"
    SCORED = "scored"
    DECIDED = "decided"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TeamEvent:
    """`score` is the round's; None where there is none (yet)."""

    team_id: str
    team_name: str
    round_number: int
    stage: Stage
    score: float | None = None
    text: str = ""


# Rendering is somebody else's.
Watcher = Callable[[TeamEvent], None]


def watch_nothing(event: TeamEvent) -> None:
    """Nobody looks."""


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round that is over: stored, scored as far as it could be, and decided upon.

    `feedback` has a score and a comment for each metric; the score is None, and the comment its reason, where one is
    missing. `score` is None as soon as one is.
    """

    execution_id: str
    team_id: str
    team_name: str
    round_number: int
    submission: str
    score: float | None
    feedback: Mapping[str, Mapping[str, Any]]
    opinion: Opinion | None
    decision: RoundDecision


# Whoever wants to know is told in the team's own time: it plays on when this has returned, others do not wait.
AfterRound = Callable[[RoundRecord], Awaitable[None] | None]


# Whether a team plays another round: a pure function of its scores, the judge's opinion and the rules.


def has_stalled(scores: Sequence[float | None], rounds: int, min_gain: float) -> bool:
    """Whether the last `rounds` rounds brought no gain; a round without a score brought none."""
    if len(scores) <= rounds:
        return False
    before = [score for score in scores[:-rounds] if score is not None]
    since = [score for score in scores[-rounds:] if score is not None]
    return not since or (bool(before) and max(since) <= max(before) + min_gain)


def is_decided_without_judge(scores: Sequence[float | None], rules: RoundsTable) -> RoundDecision | None:
    """What needs no opinion: the maximum, the minimum, then the rule of no gain. None: ask."""
    played = len(scores)
    if played >= rules.max:
        return RoundDecision(False, StopReason.MAX_ROUNDS, DecidedBy.CONTROLLER)
    if played < rules.min:
        return RoundDecision(True, None, DecidedBy.CONTROLLER)
    if rules.no_gain_rounds is not None and has_stalled(scores, rules.no_gain_rounds, rules.min_gain):
        return RoundDecision(False, StopReason.NO_GAIN, DecidedBy.NO_GAIN_RULE)
    return None


def wants_opinion(scores: Sequence[float | None], rules: RoundsTable, *, after_last_round: bool = True) -> bool:
    """Whether the judge is asked after this round; the last one ends whatever it says."""
    settled = is_decided_without_judge(scores, rules)
    return settled is None or (settled.stop_reason is StopReason.MAX_ROUNDS and after_last_round)


def decide(
    scores: Sequence[float | None], opinion: Opinion | None, rules: RoundsTable, on_outage: OutagePolicy = "continue"
) -> RoundDecision:
    """The decision after the last of `scores`; `opinion` None says that there is no judge of progress."""
    settled = is_decided_without_judge(scores, rules)
    if settled is not None:
        return settled
    match opinion:
        case None:
            return RoundDecision(True, None, DecidedBy.CONTROLLER)
        case ImprovementJudgment(should_continue=True):
            return RoundDecision(True, None, DecidedBy.JUDGE)
        case ImprovementJudgment():
            return RoundDecision(False, StopReason.JUDGED_ENOUGH, DecidedBy.JUDGE)
        case NoOpinion():
            if on_outage == "continue":
                return RoundDecision(True, None, DecidedBy.POLICY)
            return RoundDecision(False, StopReason.JUDGE_OUT, DecidedBy.POLICY)
        case unexpected:
            assert_never(unexpected)


# A decision ended these; every other end is an accident, and the same command tries that round once more.
FINAL_REASONS = frozenset({StopReason.MAX_ROUNDS, StopReason.JUDGED_ENOUGH, StopReason.NO_GAIN})


@dataclass(frozen=True, slots=True)
class RoundParts:
    """What all teams of a competition share."""

    execution_id: str
    task: str
    store: ExecutionStore
    prompts: UserPromptBuilder
    evaluator: Evaluator
    judgment: JudgmentClient | None = None
    rules: RoundsTable = field(default_factory=RoundsTable)
    on_judge_outage: OutagePolicy = "continue"
    asks_after_last_round: bool = True
    on_missing_metric: OutagePolicy = "continue"
    # Rounds whose judge has spoken without giving a score are evaluated again as well.
    retries_invalid: bool = False
    watcher: Watcher = watch_nothing
    after_round: AfterRound | None = None
    stop: Callable[[], bool] = lambda: False
    clock: Callable[[], datetime] = read_clock
    stopwatch: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class TeamEnd:
    """Why a team plays no further round, with a sentence where somebody would ask."""

    team_id: str
    team_name: str
    stop_reason: StopReason
    message: str = ""
    # An accident that the same command would only repeat.
    is_for_good: bool = False

    @property
    def is_decided(self) -> bool:
        """False for an accident."""
        return self.stop_reason in FINAL_REASONS

    @property
    def is_final(self) -> bool:
        """False where the same command would try again."""
        return self.is_decided or self.is_for_good


async def store_end(parts: RoundParts, end: TeamEnd) -> None:
    """As the last word on the team, for now."""
    await parts.store.finish_team(
        parts.execution_id, end.team_id, end.stop_reason, end.message, parts.clock(), team_name=end.team_name
    )


class _EndedError(Exception):
    """Leaves the rounds from any depth; never seen outside."""

    def __init__(self, end: TeamEnd) -> None:
        super().__init__(end.message)
        self.end = end


class RoundController:
    """Plays the rounds of one team."""

    def __init__(self, parts: RoundParts, team: Team, before: TeamProgress | None = None) -> None:
        self._parts = parts
        self._team = team
        self._before = before
        self._rounds: list[RoundProgress] = list(before.rounds) if before is not None else []
        # The judge's word on the last round, on which an earlier process stopped, was none.
        self._asks_anew = False

    async def play(self) -> TeamEnd:
        """From wherever an earlier process had come. Raises HaltedError and what concerns all teams; resumable."""
        await self._evaluate_again()
        ended = None if self._before is None else end_of(self._before, retries_invalid=self._parts.retries_invalid)
        if ended is not None:
            return self._tell_end(ended)
        self._forget_outage()
        try:
            while True:
                await self._play_round()
        except _EndedError as left:
            end = left.end
        await store_end(self._parts, end)
        return self._tell_end(end)

    async def _evaluate_again(self) -> None:
        """Rounds that an earlier process could not score: missing is nothing yet. What followed from it stays."""
        for place, one in enumerate(self._rounds):
            if awaits_score(one, retries_invalid=self._parts.retries_invalid) and one.decision is not None:
                self._check_stop()
                self._rounds[place] = await self._evaluate(one)

    def _forget_outage(self) -> None:
        """A judge that was out may be back: its round is reached, its opinion is not had."""
        last = self._rounds[-1] if self._rounds else None
        if last is not None and last.decision is not None and last.decision.stop_reason is StopReason.JUDGE_OUT:
            self._rounds[-1] = replace(last, opinion=None, decision=None, decided_at=None)
            self._asks_anew = True

    async def _play_round(self) -> None:
        last = self._rounds[-1] if self._rounds else None
        if last is None or (last.decision is not None and last.decision.continues):
            self._check_stop()
            last = await self._submit(len(self._rounds) + 1)
            self._rounds.append(last)
        # Tried without a score and not gone on from there: worth another try.
        if last.evaluated_at is None or (last.score is None and last.decision is None):
            self._check_stop()
            last = self._rounds[-1] = await self._evaluate(last)
        if last.decision is None:
            self._check_stop()
            last = self._rounds[-1] = await self._decide(last)
        if last.decision is not None and last.decision.stop_reason is not None:
            reason = last.opinion.reason if isinstance(last.opinion, NoOpinion) else ""
            is_out = last.decision.stop_reason is StopReason.JUDGE_OUT
            raise self._ended(last.decision.stop_reason, reason if is_out else "")

    async def _submit(self, number: int) -> RoundProgress:
        parts, team = self._parts, self._team
        self._tell(number, Stage.WORKING)
        context = RoundPromptContext(
            user_prompt=parts.task,
            round_number=number,
            round_history=self._history(),
            team_id=team.team_id,
            team_name=team.team_name,
            execution_id=parts.execution_id,
            store=parts.store,
        )
        prompt = await parts.prompts.build_team_prompt(context)
        began = parts.stopwatch()
        submission = await self._within_limits(team.submit(prompt, number))
        if isinstance(submission, FailedSubmission):
            raise self._ended(StopReason.TEAM_FAILED, f"round {number}: {submission.reason}")
        if not submission.text.strip():
            raise self._ended(StopReason.TEAM_FAILED, f"round {number}: the submission is empty")
        text = without_surrogates(submission.text)
        usage = {**submission.usage, "seconds": round(parts.stopwatch() - began, 3)}
        at = parts.clock()
        await parts.store.save_submission(self._key(number), team.team_name, text, usage, at)
        return RoundProgress(number, text, usage, at)

    def _key(self, number: int) -> RoundKey:
        return RoundKey(self._parts.execution_id, self._team.team_id, number)

    async def _within_limits(
        self, work: Coroutine[Any, Any, Submission | FailedSubmission]
    ) -> Submission | FailedSubmission:
        """The team's work, cut off when its time is up; which limit it was decides the reason."""
        for_round, for_team = self._parts.rules.round_timeout_seconds, self._parts.rules.team_timeout_seconds
        used = sum(float(one.usage.get("seconds") or 0.0) for one in self._rounds)
        left = None if for_team is None else max(0.0, for_team - used)
        allowed = min((limit for limit in (for_round, left) if limit is not None), default=None)
        number = len(self._rounds) + 1
        timer = asyncio.timeout(allowed)
        try:
            async with timer:
                return await work
        except TimeoutError:
            if not timer.expired():
                raise
            if allowed == left:
                message = f"round {number}: the team's {for_team:g} s are used up"
                raise self._ended(StopReason.TEAM_TIMEOUT, message) from None
            message = f"round {number}: no submission within {for_round:g} s"
            raise self._ended(StopReason.ROUND_TIMEOUT, message) from None

    async def _evaluate(self, current: RoundProgress) -> RoundProgress:
        parts, team = self._parts, self._team
        self._tell(current.round_number, Stage.EVALUATING)
        request = EvaluationRequest(
            parts.task,
            current.submission,
            team.team_id,
            current.round_number,
            team.target_model,
            parts.execution_id,
        )
        result = await parts.evaluator.evaluate(request)
        details, at = result.details(), parts.clock()
        score = result.overall_score
        await parts.store.save_evaluation(self._key(current.round_number), score, details, at)
        missing = "; ".join(f"{metric.name}: {metric.reason}" for metric in result.missing)
        text = f"no score ({missing})" if missing else ""
        if score is not None and counts_as_self_judged(methods_of(details).values()):
            text = f"{score:.2f}, by its own model: shown apart, not ranked"
        self._tell(current.round_number, Stage.SCORED, score, text)
        if score is None and current.decision is None and parts.on_missing_metric == "stop":
            message = f"round {current.round_number}: {missing}"
            is_for_good = any(metric.is_permanent for metric in result.missing)
            raise self._ended(StopReason.EVALUATION_FAILED, message, is_for_good=is_for_good)
        return replace(current, score=score, details=details, evaluated_at=at)

    async def _decide(self, current: RoundProgress) -> RoundProgress:
        parts, team = self._parts, self._team
        scores = [one.score for one in self._rounds]
        opinion: Opinion | None = None
        if parts.judgment is not None and wants_opinion(
            scores, parts.rules, after_last_round=parts.asks_after_last_round
        ):
            opinion = await parts.judgment.judge_improvement_prospects(
                parts.task,
                self._history(),
                team_id=team.team_id,
                team_name=team.team_name,
                execution_id=parts.execution_id,
                asks_anew=self._asks_anew,
            )
        self._asks_anew = False
        decision, at = decide(scores, opinion, parts.rules, parts.on_judge_outage), parts.clock()
        await parts.store.save_decision(self._key(current.round_number), opinion, decision, at)
        self._tell(current.round_number, Stage.DECIDED, current.score)
        await self._tell_round(current, opinion, decision)
        return replace(current, opinion=opinion, decision=decision, decided_at=at)

    async def _tell_round(self, current: RoundProgress, opinion: Opinion | None, decision: RoundDecision) -> None:
        """Raises AfterRoundError for whatever the user's function raises: the round is stored by now."""
        parts, team, number = self._parts, self._team, current.round_number
        if parts.after_round is None:
            return
        who = parts.execution_id, team.team_id, team.team_name, number
        feedback = feedback_of(current.details)
        record = RoundRecord(*who, current.submission, current.score, feedback, opinion, decision)
        try:
            told = parts.after_round(record)
            if inspect.isawaitable(told):
                await told
        except Exception as error:
            where = f"team {team.team_id}, round {number}"
            raise AfterRoundError(
                f"after_round failed ({where}): {describe_failure(error)}; everything played is stored, "
                "and the same call goes on from here"
            ) from error

    def _history(self) -> list[RoundState]:
        return [
            RoundState(
                one.round_number,
                one.submission,
                one.score,
                shown_details(one.details),
                one.submitted_at,
                one.evaluated_at,
            )
            for one in self._rounds
        ]

    def _ended(self, reason: StopReason, message: str = "", *, is_for_good: bool = False) -> _EndedError:
        return _EndedError(TeamEnd(self._team.team_id, self._team.team_name, reason, message, is_for_good))

    def _check_stop(self) -> None:
        if self._parts.stop():
            raise HaltedError("stopping")

    def _tell(self, number: int, stage: Stage, score: float | None = None, text: str = "") -> None:
        self._parts.watcher(TeamEvent(self._team.team_id, self._team.team_name, number, stage, score, text))

    def _tell_end(self, end: TeamEnd) -> TeamEnd:
        best = max((one.score for one in self._rounds if one.score is not None), default=None)
        text = f"{end.stop_reason.value}: {end.message}" if end.message else end.stop_reason.value
        self._tell(len(self._rounds), Stage.ENDED, best, text)
        return end


def awaits_score(one: RoundProgress, *, retries_invalid: bool = False) -> bool:
    """Whether evaluating again may give a score; an invalid reply stays so, unless `retries_invalid` asks again."""
    if one.evaluated_at is None or one.score is not None:
        return False
    missing: Sequence[Mapping[str, Any]] = one.details.get("missing") or ()
    return retries_invalid or not any(metric.get("permanent") for metric in missing)


def end_of(team: TeamProgress, *, retries_invalid: bool = False) -> TeamEnd | None:
    """How an earlier process left a team that is over; None where there is something to play or to try again."""
    reason = team.stop_reason
    if reason is None:
        return None
    is_open = bool(team.rounds) and awaits_score(team.rounds[-1], retries_invalid=retries_invalid)
    is_for_good = reason is StopReason.EVALUATION_FAILED and bool(team.rounds) and not is_open
    end = TeamEnd(team.team_id, team.team_name, reason, team.message, is_for_good)
    return end if end.is_final else None


def without_surrogates(text: str) -> str:
    """Half a surrogate pair, which a model's JSON may hold and no UTF-8 can: U+FFFD in its place, here and for ever."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def feedback_of(details: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Score and comment of each metric; of a missing one, why it is."""
    told = {one["name"]: {"score": one["score"], "comment": one["comment"]} for one in details.get("metrics", ())}
    return told | {one["name"]: {"score": None, "comment": one["reason"]} for one in details.get("missing", ())}


def shown_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """What teams and judges read of an evaluation: scores and remarks, not what they cost."""
    metrics: Sequence[Mapping[str, Any]] = details.get("metrics", ())
    missing: Sequence[Mapping[str, Any]] = details.get("missing", ())
    shown: dict[str, Any] = {one["name"]: {"score": one["score"], "comment": one["comment"]} for one in metrics}
    return shown | {one["name"]: {"score": None} for one in missing}
