"""Single questions: one reply for everybody who asks the same, journaled first, and never paid for twice."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from tests.unit.engine.live_stubs import (
    CountingProgress,
    Court,
    FakeTime,
    MemoryJournal,
    PlainLines,
    PromptingProtocol,
    ScriptedJudge,
)
from tests.unit.engine.stub_judging import StubRules

from mixseek.domain.judgments import InvalidJudgment, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import Call, Nonces
from mixseek.domain.samples import Sample
from mixseek.engine.budget import Budget, BudgetSpentError
from mixseek.engine.call import CallContext
from mixseek.engine.endpoint import HaltedError
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.questions import Answered, AnsweredBefore, Place, Question, Questions, question_key
from mixseek.engine.replies import NoCache, ReplyCache
from mixseek.engine.retry import RetryPolicy
from mixseek.engine.slots import OfflineSlot, Slot
from mixseek.errors import ConfigurationError, PermanentJudgeError, TransientJudgeError

SAMPLE = Sample("a/1", "a text", question="a question")
PROTOCOL = PromptingProtocol()


@dataclass
class DictCache:
    """A cache in memory."""

    replies: dict[bytes, Reply] = field(default_factory=dict)

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        return {key: self.replies[key] for key in keys if key in self.replies}

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        self.replies.update(replies)


@dataclass
class Room:
    """A desk with one scripted judge behind it, and rules beside it."""

    script: Callable[[Call, int], str | Exception] = lambda call, times: "good"
    time: FakeTime = field(default_factory=FakeTime)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    cache: ReplyCache = field(default_factory=NoCache)
    budget: Budget = field(default_factory=Budget)
    before: AnsweredBefore = field(default_factory=AnsweredBefore)
    max_reasks: int = 1
    judge: ScriptedJudge = field(init=False)

    def __post_init__(self) -> None:
        self.judge = ScriptedJudge(self.script, self.time)

    def run(self, work: Callable[[Questions], Awaitable[None]]) -> None:
        async def main() -> None:
            commits = GroupCommit(self.journal, CountingProgress(), gather_seconds=0.0)
            context = CallContext(
                PROTOCOL, PlainLines(), commits, self.cache, self.budget, lambda *_: Nonces("question", "nonce")
            )
            court = Court(time=self.time, policy=RetryPolicy(tries=2))
            slots: list[Slot] = [court.slot(self.judge, max_reasks=self.max_reasks), OfflineSlot(StubRules())]
            async with Questions(context, slots, "n", self.before) as questions:
                await work(questions)

        self.time.run(main)

    def ask_once(self, sample: Sample = SAMPLE, judge: str = "model", identity: str | None = None) -> Answered:
        answers: list[Answered] = []

        async def work(questions: Questions) -> None:
            answers.append(await questions.ask(Question(PROTOCOL, sample, judge, identity=identity)))

        self.run(work)
        return answers[0]


def test_a_reply_is_journaled_before_it_is_read_and_its_outcome_after() -> None:
    """Sample, reply, outcome: in that order, once."""
    room = Room()
    answered = room.ask_once()

    assert isinstance(answered.outcome, ValidJudgment)
    assert not answered.is_recalled
    assert answered.reply is not None
    assert answered.reply.text == "good"
    assert [line.decode().split()[0] for line in room.journal.lines] == ["sample", "reply", "outcome"]


def test_many_who_ask_the_same_share_one_reply() -> None:
    """Whatever the sample is called: the same text is the same question, and it costs one call."""
    room = Room()
    answers: list[Answered] = []

    async def work(questions: Questions) -> None:
        samples = [Sample(f"team-{n}", "a text", question="a question") for n in range(5)]
        answers.extend(await asyncio.gather(*(questions.ask(Question(PROTOCOL, one, "model")) for one in samples)))
        answers.append(await questions.ask(Question(PROTOCOL, samples[0], "model")))

    room.run(work)

    assert len(room.judge.calls) == 1
    assert {one.reply.text for one in answers if one.reply} == {"good"}
    assert answers[-1].reply is not None
    assert answers[-1].reply.details["cost_usd"] == 0.0


def test_questions_with_names_are_different_even_where_the_text_is_the_same() -> None:
    """Two teams with the same prompt are two questions; neither comes from the cache nor goes into it."""
    cache = DictCache()
    room = Room(cache=cache)

    async def work(questions: Questions) -> None:
        for name in ("alpha/1", "beta/1", "alpha/1"):
            await questions.ask(Question(PROTOCOL, SAMPLE, "model", identity=name))

    room.run(work)

    assert len(room.judge.calls) == 2
    assert cache.replies == {}


def test_the_cache_answers_questions_by_content() -> None:
    """Another execution in the same workspace pays nothing for the same text."""
    cache = DictCache()
    Room(cache=cache).ask_once()
    second = Room(cache=cache)
    answered = second.ask_once()

    assert second.judge.calls == []
    assert isinstance(answered.outcome, ValidJudgment)
    assert any(b"cached=True" in line for line in second.journal.lines)


@pytest.mark.parametrize("identity", [None, "alpha/1"])
def test_replies_of_the_journal_are_used_and_not_asked_for_again(identity: str | None) -> None:
    """On resume: what was concluded is not even written again."""
    place = Place(question_key(PROTOCOL, SAMPLE, identity), "model", 1)
    before = AnsweredBefore({place: (Reply("good", "model"),)}, {place}, {place[0]})
    room = Room(before=before)
    answered = room.ask_once(identity=identity)

    assert isinstance(answered.outcome, ValidJudgment)
    assert answered.is_recalled
    assert (room.judge.calls, room.journal.lines) == ([], [])


def test_a_reply_that_nobody_read_is_concluded_on_resume() -> None:
    """The process died between the reply and its outcome."""
    place = Place(question_key(PROTOCOL, SAMPLE, None), "model", 1)
    room = Room(before=AnsweredBefore({place: (Reply("good", "model"),)}, set(), {place[0]}))
    room.ask_once()

    assert room.judge.calls == []
    assert [line.decode().split()[0] for line in room.journal.lines] == ["outcome"]


def test_an_invalid_reply_is_asked_for_again_and_both_are_kept() -> None:
    """The second ask names what was wrong."""
    room = Room(script=lambda call, times: "good" if call.ask == 2 else "bad")
    answered = room.ask_once()

    assert isinstance(answered.outcome, ValidJudgment)
    assert "not good" in room.judge.calls[1].messages[-1].content
    assert len(room.journal.texts("reply")) == 2
    assert [reply.text for reply in answered.replies] == ["bad", "good"]


def test_every_reply_is_counted_once_however_often_its_question_is_asked() -> None:
    """Also the one that was no answer: it has been paid for."""
    room = Room(script=lambda call, times: "good" if call.ask == 2 else "bad")
    answers: list[Answered] = []

    async def work(questions: Questions) -> None:
        answers.append(await questions.ask(Question(PROTOCOL, SAMPLE, "model")))
        answers.append(await questions.ask(Question(PROTOCOL, SAMPLE, "model")))

    room.run(work)

    assert len(room.judge.calls) == 2
    assert [[reply.details["cached"] for reply in answered.replies] for answered in answers] == [
        [False] * 2,
        [True] * 2,
    ]


def test_who_does_not_want_to_ask_again_gets_the_invalid_reply() -> None:
    """Free text is not asked for in the words that are meant for JSON."""
    room = Room(script=lambda call, times: "bad")
    answers: list[Answered] = []

    async def work(questions: Questions) -> None:
        answers.append(await questions.ask(Question(PROTOCOL, SAMPLE, "model", asks_again=False)))

    room.run(work)

    assert isinstance(answers[0].outcome, InvalidJudgment)
    assert len(room.judge.calls) == 1


def test_a_call_that_fails_is_missing_and_asked_for_again_next_time() -> None:
    """Within one process too: missing is nothing yet."""
    errors = [TransientJudgeError("gone")] * 2
    room = Room(script=lambda call, times: errors.pop() if errors else "good")
    answers: list[Answered] = []

    async def work(questions: Questions) -> None:
        answers.append(await questions.ask(Question(PROTOCOL, SAMPLE, "model")))
        answers.append(await questions.ask(Question(PROTOCOL, SAMPLE, "model")))

    room.run(work)

    assert answers[0] == Answered(Missing("gone"))
    assert isinstance(answers[1].outcome, ValidJudgment)


def test_rules_answer_at_once_and_may_decline() -> None:
    """The same door for judges that need no waiting."""
    answered = Room().ask_once(Sample("a", "x", ground_truth="y"), judge="rules")

    assert answered == Answered(Undecided("not equal"))


def test_a_halt_lets_nothing_new_out() -> None:
    """And says so by its own name, never as a missing reply."""
    room = Room()

    async def work(questions: Questions) -> None:
        questions.halt()
        with pytest.raises(HaltedError):
            await questions.ask(Question(PROTOCOL, SAMPLE, "model"))

    room.run(work)

    assert room.judge.calls == []


def test_a_call_that_fails_while_everything_stops_is_not_known_to_be_missing() -> None:
    """Its last try came back empty after the halt: nothing is written down about it."""
    asked: list[Questions] = []

    def fail(call: Call, times: int) -> Exception:
        if times == 2:
            asked[0].halt()
        return TransientJudgeError("gone")

    room = Room(script=fail)

    async def work(questions: Questions) -> None:
        asked.append(questions)
        with pytest.raises(HaltedError):
            await questions.ask(Question(PROTOCOL, SAMPLE, "model"))

    room.run(work)

    assert len(room.judge.calls) == 2
    assert room.journal.texts("outcome") == []


def test_a_spent_budget_and_a_refused_key_are_raised() -> None:
    """They concern everybody, not this question."""

    async def work(questions: Questions) -> None:
        with pytest.raises((BudgetSpentError, PermanentJudgeError)):
            await questions.ask(Question(PROTOCOL, SAMPLE, "model"))

    Room(budget=Budget(max_calls=0)).run(work)
    Room(script=lambda call, times: PermanentJudgeError("401", concerns_everything=True)).run(work)


def test_a_judge_that_is_not_at_hand_is_named() -> None:
    """With those that are."""

    async def work(questions: Questions) -> None:
        with pytest.raises(ConfigurationError, match="'nobody' is not at hand; there is model, rules"):
            await questions.ask(Question(PROTOCOL, SAMPLE, "nobody"))

    Room().run(work)


def test_who_stops_waiting_does_not_take_the_question_from_the_others() -> None:
    """Only the last one who leaves ends it."""
    room = Room()
    outcomes: list[Answered] = []

    async def work(questions: Questions) -> None:
        first = asyncio.create_task(questions.ask(Question(PROTOCOL, SAMPLE, "model")))
        second = asyncio.create_task(questions.ask(Question(PROTOCOL, SAMPLE, "model")))
        for _ in range(5):
            await asyncio.sleep(0)
        first.cancel()
        outcomes.append(await second)
        alone = asyncio.create_task(questions.ask(Question(PROTOCOL, Sample("b", "other"), "model")))
        for _ in range(5):
            await asyncio.sleep(0)
        alone.cancel()
        await asyncio.gather(alone, return_exceptions=True)

    room.run(work)

    assert isinstance(outcomes[0].outcome, ValidJudgment)
    assert len(room.journal.texts("reply")) == 1
    assert room.judge.in_flight == 0
