"""What means take: what was said now wins over what was said before, and what nobody said is the usual."""

from itertools import product

from mixseek.domain.counting import USUAL, Counting, CutOffChoice, UndecidedChoice

CUT_OFF = (None, *CutOffChoice)
UNDECIDED = (None, *UndecidedChoice)


def test_a_choice_that_is_not_made_is_made_by_the_other() -> None:
    """Each of both by itself, whatever the other is."""
    for (cut_off, undecided), (before, earlier) in product(product(CUT_OFF, UNDECIDED), repeat=2):
        both = Counting(cut_off, undecided).or_else(Counting(before, earlier))

        assert both == Counting(cut_off or before, undecided or earlier)
        assert both.leaves_out_cut_off is ((cut_off or before) is CutOffChoice.LEAVE_OUT)
        assert both.counts_undecided is ((undecided or earlier) is UndecidedChoice.INCORRECT)


def test_the_usual_counting_in_so_many_words_is_the_same() -> None:
    """And only that is usual."""
    assert USUAL.document() == USUAL.explicit.document() == {"cut_off": "incorrect", "undecided": "leave-out"}
    usual = [Counting(*made) for made in product(CUT_OFF, UNDECIDED) if Counting(*made).is_usual]
    assert {choices.explicit for choices in usual} == {USUAL.explicit}
