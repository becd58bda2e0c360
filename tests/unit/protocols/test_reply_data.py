"""Replies that real judges gave, where they lie beside the project: no crash, no false score, every wrong total."""

import pytest
from bench.accuracy import DATA
from bench.replies import PROMPTDRIFT, SHAPES, Shape, endpoint_errors, measure, totals

pytestmark = pytest.mark.skipif(not (DATA / PROMPTDRIFT).is_file(), reason="no ../shared/data beside the project")


@pytest.mark.thorough
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.file.removeprefix("judge_outputs_"))
def test_every_reply_is_valid_or_flagged(shape: Shape) -> None:
    """And a verdict in prose never becomes a score."""
    counts = measure(shape)

    assert counts.replies == counts.valid + counts.flags.total()
    assert counts.replies >= counts.rows > 0
    if shape.is_prose:
        assert counts.valid == 0


def test_every_file_of_replies_is_in_the_table() -> None:
    """A new one does not go unread."""
    assert {shape.file for shape in SHAPES} == {path.name for path in DATA.glob("judge_outputs_*.jsonl")}


def test_totals_that_do_not_add_up_are_all_found() -> None:
    """Bundle by bundle, and none is found that is right."""
    found = [(wanted, refused) for _, wanted, refused in totals()]

    assert [wanted for wanted, _ in found] == [refused for _, refused in found]
    assert any(wanted for wanted, _ in found)


def test_an_http_error_is_never_a_reply() -> None:
    """It is named as what it is."""
    known, named = endpoint_errors()

    assert known == named > 0
