"""Batches: what is skipped, what is encoded, what is counted."""

import itertools

import pytest
from tests.cases import each
from tests.unit.engine.stub_judging import StubEncode, StubProtocol, StubReplies, StubRules

from mixseek.domain.judgments import Status
from mixseek.domain.ports import ReplyKey
from mixseek.domain.samples import Sample
from mixseek.engine.offline import Assignment, Batch, is_settled, judge_one, pending_batches

RIGHT = Sample("right", "4", ground_truth="4")
OPEN = Sample("open", "four", ground_truth="4")


def assignment(cascade: bool) -> Assignment:
    return Assignment(StubProtocol(), (StubRules(), StubReplies({"open": "good"})), cascade, StubEncode())


def test_lines_come_in_dataset_order_judge_by_judge() -> None:
    """The journal can be read from top to bottom beside the dataset."""
    result = assignment(cascade=True).judge(Batch([OPEN, RIGHT]))

    assert result.lines == [b"open rules undecided\n", b"open replay valid\n", b"right rules valid\n"]


def test_a_cascade_counts_how_each_sample_ended() -> None:
    """Two samples, two ends, although three judgments were made."""
    assert assignment(cascade=True).judge(Batch([OPEN, RIGHT])).counts == {"valid": 2}


def test_a_panel_counts_every_judgment() -> None:
    """Without a cascade each judge's judgment stands for itself."""
    counts = assignment(cascade=False).judge(Batch([OPEN, RIGHT])).counts

    assert counts == {"undecided": 1, "valid": 2, "missing": 1}


def test_a_crashing_judge_names_the_sample() -> None:
    """A bug that cannot be reproduced is not reported twice."""
    with pytest.raises(LookupError) as caught:
        assignment(cascade=True).judge(Batch([Sample("bad-one", "raise")]))

    assert caught.value.__notes__ == ["while judging sample 'bad-one'"]


def test_settled_samples_leave_the_batch_and_half_done_ones_keep_what_is_known() -> None:
    """Positions in `known` are those of the samples that stay."""
    samples = [Sample(name, f"x{name}") for name in "abc"]
    told: list[dict[ReplyKey, Status]] = [{ReplyKey("rules"): Status.VALID}, {ReplyKey("rules"): Status.UNDECIDED}, {}]
    journal = {sample.key(): statuses for sample, statuses in zip(samples, told, strict=True)}

    (batch,) = pending_batches([samples], ["rules", "replay"], True, journal.__getitem__)

    assert [sample.id for sample in batch.samples] == ["b", "c"]
    assert batch.known == {0: {ReplyKey("rules"): Status.UNDECIDED}}
    assert batch.skipped == 1


def test_a_fresh_run_looks_nothing_up() -> None:
    """Recall None means an empty journal: no key is computed in the parent."""
    (batch,) = pending_batches([[OPEN]], ["rules"], False, None)

    assert batch == Batch([OPEN])


@each(("cascade", "rules", "replay"), list(itertools.product([False, True], [None, *Status], [None, *Status])))
def test_settled_means_that_judging_again_would_ask_nobody(
    cascade: bool, rules: Status | None, replay: Status | None
) -> None:
    """The skip on resume and the walk of the judges cannot disagree."""
    known = {ReplyKey(name): status for name, status in (("rules", rules), ("replay", replay)) if status is not None}
    asked = judge_one(OPEN, StubProtocol(), (StubRules(), StubReplies({})), cascade, known)

    assert is_settled(known, {"rules": 1, "replay": 1}, cascade) == (not asked)
