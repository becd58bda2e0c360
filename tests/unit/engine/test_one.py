"""One sample before a panel and before a cascade."""

import itertools
from collections.abc import Sequence

import pytest
from tests.cases import each
from tests.unit.engine.stub_judging import StubProtocol, StubReplies, StubRules

from mixseek.domain.judgments import Reply, Status
from mixseek.domain.ports import Judge, ReplyKey
from mixseek.domain.samples import Sample
from mixseek.engine.offline import judge_one

RIGHT = Sample("s", "4", ground_truth="4")
OPEN = Sample("s", "four", ground_truth="4")


def walk(sample: Sample, judges: Sequence[Judge], cascade: bool, known: dict[str, Status] | None = None) -> list[str]:
    judged = judge_one(
        sample, StubProtocol(), judges, cascade, {ReplyKey(name): one for name, one in (known or {}).items()}
    )
    return [f"{one.judge}:{one.status}" for one in judged]


def test_a_panel_asks_every_judge_about_every_sample() -> None:
    """Without a cascade a valid judgment ends nothing."""
    judges = (StubRules(), StubReplies({"s": "good"}))

    assert walk(RIGHT, judges, cascade=False) == ["rules:valid", "replay:valid"]


@pytest.mark.parametrize(
    ("text", "second"), [("good", "replay:valid"), ("bad", "replay:invalid"), (None, "replay:missing")]
)
def test_a_cascade_asks_the_next_judge_until_one_is_valid(text: str | None, second: str) -> None:
    """Undecided, invalid and missing all pass the sample on; the order of asking is kept."""
    judges = (StubRules(), StubReplies({} if text is None else {"s": text}), StubReplies({"s": "good"}, "last"))

    steps = walk(OPEN, judges, cascade=True)

    expected = ["rules:undecided", second] + ([] if text == "good" else ["last:valid"])
    assert steps == expected


def test_a_cascade_stops_at_the_first_valid_judgment() -> None:
    """The second judge, perhaps a paid one, is not asked."""
    assert walk(RIGHT, (StubRules(), StubReplies({"s": "good"})), cascade=True) == ["rules:valid"]


def test_the_reply_is_kept_beside_its_judgment() -> None:
    """Provenance: the text a judgment was parsed from travels with it; rules have none."""
    first, second = judge_one(OPEN, StubProtocol(), (StubRules(), StubReplies({"s": "bad"})))

    assert first.reply is None
    assert second.reply == Reply("bad", "replay")


@each(("cascade", "rules", "replay"), list(itertools.product([False, True], [None, *Status], [None, *Status])))
def test_resuming_asks_exactly_who_is_left(cascade: bool, rules: Status | None, replay: Status | None) -> None:
    """All that a journal can hold for two judges: a judge is asked iff nothing of it stands there.

    What is missing stands there only where asking again changes nothing."""
    known = {name: status for name, status in (("rules", rules), ("replay", replay)) if status is not None}

    asked = [step.split(":")[0] for step in walk(OPEN, (StubRules(), StubReplies({"s": "good"})), cascade, known)]

    expected = ["rules"] if rules is None else []
    if replay is None and not (cascade and rules is Status.VALID):
        expected.append("replay")
    assert asked == expected
