"""What resume is told."""

from itertools import product
from pathlib import Path

import pytest
from tests.unit.storage.material import CORRECT, INVALID, MISSING, OUTCOMES, UNDECIDED, judged_lines, make_sample

from mixseek.domain.judgments import Missing, Outcome, Reply, Status, status_of
from mixseek.domain.ports import LostRequests, ReplyKey
from mixseek.errors import StorageError
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.recall import JudgedBefore, recall_journal
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample


def recall(tmp_path: Path, lines: list[bytes], *judges: str, repeats: int = 1) -> JudgedBefore:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    with JournalFile(path) as journal:
        journal.append(lines)
    return recall_journal(path, judges, repeats)


def test_every_pair_of_outcomes_under_two_judges_is_remembered(tmp_path: Path) -> None:
    """Missing is not: it is asked for again."""
    pairs = list(product(OUTCOMES, OUTCOMES))
    lines = [
        line
        for number, (first, second) in enumerate(pairs)
        for line in judged_lines(make_sample(number), {"a": first, "b": second})
    ]

    judged = recall(tmp_path, lines, "a", "b")

    for number, pair in enumerate(pairs):
        expected = {
            ReplyKey(judge): status_of(outcome)
            for judge, outcome in zip("ab", pair, strict=True)
            if not isinstance(outcome, Missing)
        }
        assert judged.statuses(make_sample(number).key()) == expected
    assert judged.statuses(make_sample(999).key()) == {}
    assert len(judged) == len(pairs) - 1
    assert judged.counts()["a"] == {Status.VALID: 10, Status.INVALID: 5, Status.UNDECIDED: 5}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([MISSING, CORRECT], {"a": Status.VALID}),
        ([MISSING, MISSING], {}),
        ([UNDECIDED, INVALID], {"a": Status.INVALID}),
        ([CORRECT, MISSING], {}),
    ],
)
def test_the_last_outcome_counts(tmp_path: Path, told: list[Outcome], expected: dict[str, Status]) -> None:
    """A judge asked again has changed what it said."""
    sample = make_sample(1)
    lines = [line for outcome in told for line in judged_lines(sample, {"a": outcome}, reply="text")]

    assert recall(tmp_path, lines, "a").statuses(sample.key()) == {
        ReplyKey(judge): status for judge, status in expected.items()
    }


def test_what_is_missing_for_good_is_recalled_and_what_merely_failed_is_not(tmp_path: Path) -> None:
    """With the requests that it cost."""
    lines = []
    for number, is_permanent in ((1, False), (2, True)):
        sample = make_sample(number)
        key = sample.key()
        outcome = Missing("too long", is_permanent)
        lines += [encode_sample(sample, key), encode_outcome(sample, key, "a", outcome, lost=LostRequests(number))]

    judged = recall(tmp_path, lines, "a")

    first, second = (make_sample(number).key() for number in (1, 2))
    assert judged.statuses(first) == {}
    assert judged.statuses(second) == {ReplyKey("a", 1): Status.MISSING}
    assert (judged.lost(first), judged.lost(second)) == (
        {ReplyKey("a"): LostRequests(1)},
        {ReplyKey("a"): LostRequests(2)},
    )


def test_a_sample_that_changed_is_a_sample_never_seen(tmp_path: Path) -> None:
    """Keys are over everything a judge sees, and nothing else."""
    lines = judged_lines(make_sample(1), {"a": CORRECT})

    judged = recall(tmp_path, lines, "a")

    assert judged.statuses(make_sample(1, metadata={"seed": 1}).key()) == {ReplyKey("a"): Status.VALID}
    assert judged.statuses(make_sample(1, response="another").key()) == {}


def test_judges_that_are_not_asked_in_this_run_are_passed_over(tmp_path: Path) -> None:
    """Their outcomes stay in the journal, and decide nothing."""
    judged = recall(tmp_path, judged_lines(make_sample(1), {"old": CORRECT}), "new")

    assert judged.statuses(make_sample(1).key()) == {}
    assert len(judged) == 0


def test_an_empty_journal_recalls_nothing(tmp_path: Path) -> None:
    """The first start of a run."""
    assert recall(tmp_path, [], "a").statuses(make_sample(1).key()) == {}


def test_takes_are_remembered_one_by_one(tmp_path: Path) -> None:
    """As many as this run makes; the first one speaks for the judge."""
    sample, key = make_sample(1), make_sample(1).key()
    told: list[Outcome] = [CORRECT, INVALID, UNDECIDED]
    outcomes = [encode_outcome(sample, key, "b", outcome, take) for take, outcome in enumerate(told, start=1)]
    lines = [encode_sample(sample), *outcomes]

    judged = recall(tmp_path, lines, "a", "b", repeats=2)

    assert judged.statuses(key) == {ReplyKey("b", 1): Status.VALID, ReplyKey("b", 2): Status.INVALID}
    assert judged.statuses(make_sample(2).key()) == {}
    assert judged.lost(key) == {}
    assert judged.counts() == {"a": {}, "b": {Status.VALID: 1, Status.INVALID: 1}}
    assert recall(tmp_path, lines, "b").statuses(key) == {ReplyKey("b", 1): Status.VALID}


def test_replies_that_nobody_read_are_kept_until_their_outcome_is_told(tmp_path: Path) -> None:
    """In the order of asking, by judge and take; those of judges that are not asked in this run are passed over."""
    sample, key = make_sample(1), make_sample(1).key()
    first, again, second = Reply("x", "a"), Reply("y", "a", 2), Reply("z", "a", details={"take": 2})
    replies = [encode_reply(key, reply) for reply in (first, again, second, Reply("w", "old"))]
    lines = [encode_sample(sample), *replies]
    both = recall(tmp_path, lines, "a", "b", repeats=2)
    told = encode_outcome(sample, key, "a", INVALID)

    half = recall(tmp_path, [*lines, told], "a", repeats=2)
    other = recall(tmp_path, [*lines, encode_outcome(sample, key, "b", CORRECT)], "a", "b", repeats=2)
    none = recall(tmp_path, [*lines, told, encode_outcome(sample, key, "a", CORRECT, 2)], "a", repeats=2)

    assert both.unread_replies(key) == {ReplyKey("a", 1): (first, again), ReplyKey("a", 2): (second,)}
    assert other.unread_replies(key) == both.unread_replies(key)
    assert half.unread_replies(key) == {ReplyKey("a", 2): (second,)}
    assert none.unread_replies(key) == {}
    assert both.unread_replies(make_sample(2).key()) == {}


def test_lost_tries_are_those_of_the_sample(tmp_path: Path) -> None:
    """Of another one, nothing is known."""
    sample = make_sample(1)
    lines = [
        encode_sample(sample),
        encode_outcome(sample, sample.key(), "a", MISSING, lost=LostRequests(3, 10, 5, 0.25)),
    ]
    judged = recall(tmp_path, lines, "a")

    assert judged.lost(sample.key()) == {ReplyKey("a"): LostRequests(3, 10, 5, 0.25)}
    assert judged.lost(make_sample(2).key()) == {}


@pytest.mark.parametrize("kind", ["outcome", "reply"])
def test_records_about_no_sample_of_the_run_are_named(tmp_path: Path, kind: str) -> None:
    """Passed over, they would leave their sample unjudged for ever."""
    sample, stranger = make_sample(1), make_sample(2)
    known = judged_lines(sample, {"a": CORRECT})
    lost = {
        "outcome": encode_outcome(stranger, stranger.key(), "a", CORRECT),
        "reply": encode_reply(stranger.key(), Reply("x", "a")),
    }[kind]

    with pytest.raises(StorageError) as caught:
        recall(tmp_path, [*known, lost], "a")

    assert f"damaged at byte {len(b''.join(known))} (this {kind} is about a sample" in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        b"torn\n",
        b"{}\n",
        b'{"t":"new"}\n',
        b'{"t":"outcome","key":"zz"}\n',
        b'{"t":"outcome","key":5,"judge":"a","status":"valid"}\n',
        b'{"t":"reply","key":"ab","judge":"a","attempt":1,"text":"x","details":null}\n',
        b"[1]\n",
    ],
)
def test_damage_is_found_before_new_work_is_added(tmp_path: Path, damage: bytes) -> None:
    """The byte is named, whatever is wrong with the line."""
    first = judged_lines(make_sample(1), {"a": CORRECT})

    with pytest.raises(StorageError, match=f"damaged at byte {len(b''.join(first))} "):
        recall(tmp_path, [*first, damage, *first], "a")
