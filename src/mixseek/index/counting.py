"""The choices of `domain.counting`, and how a response ended, as SQL: for samples under a panel, and for one judge."""

from mixseek.domain.counting import Counting
from mixseek.domain.response_states import UNFINISHED, ResponseState


def has_ended(state: ResponseState, table: str = "samples") -> str:
    """Whether the response, or one of a pair, ended so."""
    return f"coalesce('{state.value}' IN ({table}.response_state, {table}.response_state_b), false)"


def worst_end(table: str = "samples") -> str:
    """How a sample ended: as its response did, and of a pair as the response that is worse off."""
    ends = " ".join(f"WHEN {has_ended(state, table)} THEN '{state.value}'" for state in UNFINISHED)
    return f"CASE {ends} ELSE 'finished' END"


def counted_value(counting: Counting, value: str, state: str, *, is_cut_off: str, is_pair: str) -> str:
    """The value that a sample has in a mean; `value` is what its judges gave, NULL where they gave none."""
    if counting.leaves_out_cut_off:
        is_incorrect = "true" if counting.counts_undecided else "false"
    else:
        is_incorrect = "true" if counting.counts_undecided else is_cut_off
    text = f"CASE WHEN {state} = 'undecided' AND NOT ({is_pair}) AND {is_incorrect} THEN 0 ELSE {value} END"
    return f"CASE WHEN NOT {is_cut_off} THEN {text} END" if counting.leaves_out_cut_off else text
