"""Whether two meanings are the same answer; the table of conventions is this file.

An unbracketed list is unordered, like a set; a tuple is ordered. A name in front of a value (x = 5) is dropped when the
other side has none. An interval and a pair look alike, so (a, b) against [a, b] is undecided unless one is an interval
beyond doubt.
"""

from collections.abc import Sequence
from typing import Final

from mixseek.matching.expressions import real_sets
from mixseek.matching.expressions.curves import compare_curves
from mixseek.matching.expressions.equality import compare_scalars
from mixseek.matching.expressions.evaluation import evaluate, symbols_in
from mixseek.matching.expressions.findings import Finding, Hints, all_of, different, same, unsure
from mixseek.matching.expressions.meaning import (
    Domain,
    Equation,
    Grid,
    Items,
    Meaning,
    Named,
    Ordering,
    Pair,
    Phrase,
    Qualified,
    Region,
    Scalar,
    as_region,
)
from mixseek.matching.expressions.tree import Node, UnreadableExpressionError
from mixseek.matching.outcome import Decision

MAX_PAIRINGS: Final = 1_600
MAX_FORMULA_PAIRINGS: Final = 256
_FLIPPED: Final = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


def compare_meanings(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    """Never INCORRECT merely because we could not tell."""
    if isinstance(answer, Qualified) or isinstance(gold, Qualified):
        return _compare_qualified(answer, gold, hints)
    if isinstance(answer, Named) or isinstance(gold, Named):
        return _compare_named(answer, gold, hints)
    if isinstance(answer, Equation) or isinstance(gold, Equation):
        return _compare_equations(answer, gold, hints)
    if isinstance(answer, Phrase) or isinstance(gold, Phrase):
        return _compare_phrases(answer, gold)
    if isinstance(answer, Scalar) and isinstance(gold, Scalar):
        return compare_scalars(answer, gold, hints)
    if isinstance(answer, Region) or isinstance(gold, Region):
        return _compare_regions(answer, gold)
    if isinstance(answer, Grid) or isinstance(gold, Grid):
        return _compare_grids(answer, gold, hints)
    if isinstance(answer, Domain) or isinstance(gold, Domain):
        return same("set_name") if answer == gold else unsure("set_name")
    if isinstance(answer, Ordering) or isinstance(gold, Ordering):
        return _compare_orderings(answer, gold, hints)
    if isinstance(answer, Pair) and isinstance(gold, Pair):
        return _compare_pairs(answer, gold, hints)
    return _compare_items(answer, gold, hints)


def _compare_qualified(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    found = compare_meanings(_unqualified(answer), _unqualified(gold), hints)
    if found.decision is Decision.CORRECT and type(answer) is not type(gold):
        return unsure("condition_on_one_side")
    return found


def _unqualified(meaning: Meaning) -> Meaning:
    return meaning.value if isinstance(meaning, Qualified) else meaning


# x = 5


def _compare_named(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    if isinstance(answer, Named) and isinstance(gold, Named):
        return _compare_both_named(answer, gold, hints)
    if isinstance(answer, Named):
        if isinstance(gold, Equation):
            return compare_curves(answer.equation, gold)
        found = compare_meanings(answer.value, gold, hints)
        if found.decision is not Decision.CORRECT:
            # "√2 ≈ 1.41": an earlier step of the same chain may be what was asked for
            for step in answer.steps:
                earlier = compare_meanings(step, gold, hints)
                if earlier.decision is Decision.CORRECT:
                    return earlier
        return found
    if isinstance(gold, Named):
        if isinstance(answer, Equation):
            solved = isinstance(gold.value, Scalar) and gold.value.value is not None
            return unsure("equation_not_solved") if solved else compare_curves(answer, gold.equation)
        return compare_meanings(answer, gold.value, hints)
    return unsure("name")


def _compare_both_named(answer: Named, gold: Named, hints: Hints) -> Finding:
    found = compare_meanings(answer.value, gold.value, hints)
    if found.decision is Decision.CORRECT and not _same_name(answer.name, gold.name):
        return unsure("names_differ")
    if found.decision is Decision.INCORRECT and answer.equation and gold.equation and answer.name != gold.name:
        curves = compare_curves(answer.equation, gold.equation)
        return curves if curves.decision is Decision.CORRECT else found
    return found


def _same_name(one: str, other: str) -> bool:
    """W(x) and W(n), x and x_1, y and f(x) name the same thing; x and y do not."""
    if not one or not other or one[0] == other[0] or (len(one) > 2 and len(other) > 2):
        return True
    return "y" in (one, other) and (one.endswith(")") or other.endswith(")"))


# 2x + 3y = 6


def _compare_equations(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    if isinstance(answer, Equation) and isinstance(gold, Equation):
        return compare_curves(answer, gold)
    if isinstance(answer, Equation) and isinstance(gold, Scalar):
        try:
            right = Scalar(answer.right, symbols_in(answer.right), None)
            if not right.symbols:
                right = Scalar(answer.right, right.symbols, evaluate(answer.right, {}))
        except UnreadableExpressionError:
            return unsure("equation")
        found = compare_scalars(right, gold, hints)
        return found if found.decision is Decision.CORRECT else unsure("equation_not_solved")
    return unsure("equation_or_value")


# Words


def _compare_phrases(answer: Meaning, gold: Meaning) -> Finding:
    ours, theirs = _spelling(answer), _spelling(gold)
    if ours and ours == theirs:
        return same("words")
    if len(ours) == len(theirs) == 1:
        return different("words")
    return unsure("words")


def _spelling(meaning: Meaning) -> str:
    """Letters only, lower case; a product of letters is read as the word it spells."""
    match meaning:
        case Phrase():
            return "".join(character for character in meaning.text.lower() if character.isalnum())
        case Scalar():
            return _letters(meaning.node)
        case _:
            return ""


def _letters(node: Node) -> str:
    name = getattr(node, "name", None)
    if isinstance(name, str) and not getattr(node, "arguments", ()):
        return name.lower()
    factors: tuple[Node, ...] = getattr(node, "factors", ())
    spelled = [_letters(factor) for factor in factors]
    return "".join(spelled) if all(spelled) else ""


# (1, 3] ∪ [5, ∞)


def _compare_regions(answer: Meaning, gold: Meaning) -> Finding:
    ours, theirs = as_region(answer), as_region(gold)
    if ours is None or theirs is None:
        return unsure("real_set")
    if real_sets.same_set(ours, theirs):
        return same("real_set")
    return unsure("rounded") if real_sets.same_set(ours, theirs, tolerance=1e-3) else different("real_set")


def _compare_pairs(answer: Pair, gold: Pair, hints: Hints) -> Finding:
    ends = all_of(
        (compare_meanings(answer.low, gold.low, hints), compare_meanings(answer.high, gold.high, hints)), "pair"
    )
    if answer.brackets == gold.brackets or ends.decision is not Decision.CORRECT:
        return ends
    return different("interval_ends") if hints.interval else unsure("interval_or_pair")


def _compare_orderings(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    """Chains of inequalities in several variables: the same links, read from either end."""
    if not isinstance(answer, Ordering) or not isinstance(gold, Ordering):
        return unsure("inequality")
    if len(answer.operands) != len(gold.operands):
        return unsure("inequality")
    turned = Ordering(answer.operands[::-1], tuple(_FLIPPED[operator] for operator in answer.operators[::-1]))
    for ours in (answer, turned):
        if ours.operators == gold.operators:
            found = all_of(
                (compare_meanings(one, other, hints) for one, other in zip(ours.operands, gold.operands, strict=True)),
                "inequality",
            )
            if found.decision is Decision.CORRECT:
                return found
    return unsure("inequality")


# Matrices and vectors


def _compare_grids(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    if isinstance(answer, Grid) and isinstance(gold, Grid):
        ours, theirs = _cells(answer), _cells(gold)
        if [len(row) for row in answer.rows] == [len(row) for row in gold.rows]:
            return all_of(
                (compare_meanings(one, other, hints) for one, other in zip(ours, theirs, strict=True)), "matrix"
            )
        both_vectors = _is_vector(answer) and _is_vector(gold) and len(ours) == len(theirs)
        return unsure("row_or_column") if both_vectors else different("matrix")
    grid, other = (answer, gold) if isinstance(answer, Grid) else (gold, answer)
    if not isinstance(grid, Grid) or isinstance(other, Ordering | Domain | Region):
        return unsure("matrix")
    if isinstance(other, Scalar):
        return different("matrix") if other.value is not None else unsure("matrix")
    members = _members(other)
    if not _is_vector(grid) or (isinstance(other, Items) and other.kind != "tuple" and not _is_record(other.members)):
        return unsure("matrix")
    members = [_bare(member) for member in members]
    left, right = (_cells(grid), members) if grid is answer else (members, _cells(grid))
    return _compare_in_order(left, right, hints, "vector")


def _cells(grid: Grid) -> list[Meaning]:
    return [cell for row in grid.rows for cell in row]


def _is_vector(grid: Grid) -> bool:
    return len(grid.rows) == 1 or all(len(row) == 1 for row in grid.rows)


# {1, 2}, (1, 2), 1 and 2


def _compare_items(answer: Meaning, gold: Meaning, hints: Hints) -> Finding:
    ours, theirs = _members(answer), _members(gold)
    if len(ours) == 1 and len(theirs) == 1:
        return compare_meanings(ours[0], theirs[0], hints)
    limit = MAX_PAIRINGS if _are_constants(ours) and _are_constants(theirs) else MAX_FORMULA_PAIRINGS
    if len(ours) * len(theirs) > limit:
        return unsure("too_many_items")
    kinds = (_kind(answer), _kind(gold))
    if kinds == ("tuple", "tuple"):
        return _compare_in_order(ours, theirs, hints, "tuple")
    by_name = _compare_records(ours, theirs, hints)
    if by_name is not None:
        return by_name
    free = _compare_in_any_order(ours, theirs, hints)
    if free.decision is Decision.INCORRECT:
        return _missing_or_extra(ours, theirs, hints, free)
    if "tuple" not in kinds and not _is_record(ours) and not _is_record(theirs):
        if free.decision is Decision.CORRECT and hints.order and "set" not in kinds:
            in_order = _compare_in_order(ours, theirs, hints, "list")
            return in_order if in_order.decision is Decision.CORRECT else unsure("order")
        return free
    if free.decision is Decision.UNDECIDED or "set" in kinds:
        return unsure("set_or_tuple")
    ordered = _compare_in_order(ours, theirs, hints, "tuple")
    if ordered.decision is not Decision.CORRECT:
        return unsure("order")
    # An open interval would look the same as the pair.
    loose = isinstance(answer, Pair) and kinds[1] == "list" and not _is_record(theirs)
    return unsure("interval_or_pair") if loose else ordered


def _are_constants(members: Sequence[Meaning]) -> bool:
    return all(isinstance(member, Scalar) and member.value is not None for member in members)


def _kind(meaning: Meaning) -> str:
    if isinstance(meaning, Items):
        return "set" if meaning.kind == "both" else meaning.kind
    return "tuple" if isinstance(meaning, Pair) else "list"


def _members(meaning: Meaning) -> list[Meaning]:
    match meaning:
        case Items():
            return list(meaning.members)
        case Pair():
            return [meaning.low, meaning.high]
        case _:
            return [meaning]


def _is_record(members: Sequence[Meaning]) -> bool:
    """x = 1, y = 2 has an order by its names; x_1 = 1, x_2 = 2 are two values of one unknown."""
    names = [member.name for member in members if isinstance(member, Named)]
    return 1 < len(names) == len(members) and len({name.split("_")[0] for name in names}) > 1


def _compare_records(ours: list[Meaning], theirs: list[Meaning], hints: Hints) -> Finding | None:
    """x = 1, y = 2 against y = 2, x = 1: by name; None unless both sides name the same things."""
    left = {member.name: member.value for member in ours if isinstance(member, Named)}
    right = {member.name: member.value for member in theirs if isinstance(member, Named)}
    if len(left) != len(ours) or len(right) != len(theirs) or set(left) != set(right):
        return None
    return all_of((compare_meanings(left[name], right[name], hints) for name in left), "named_values")


def _compare_in_order(ours: Sequence[Meaning], theirs: Sequence[Meaning], hints: Hints, rule: str) -> Finding:
    if len(ours) != len(theirs):
        return different(rule)
    return all_of((compare_meanings(one, other, hints) for one, other in zip(ours, theirs, strict=True)), rule)


def _compare_in_any_order(ours: Sequence[Meaning], theirs: Sequence[Meaning], hints: Hints) -> Finding:
    """Each has a partner on the other side; repeated members count once."""
    table = [[compare_meanings(_bare(one), _bare(other), hints) for other in theirs] for one in ours]
    rows = table
    columns = [[row[place] for row in table] for place in range(len(theirs))]
    return all_of((_best(line) for line in (*rows, *columns)), "set")


def _bare(meaning: Meaning) -> Meaning:
    return meaning.value if isinstance(meaning, Named) else meaning


def _best(line: Sequence[Finding]) -> Finding:
    for wanted in (Decision.CORRECT, Decision.UNDECIDED):
        for finding in line:
            if finding.decision is wanted:
                return finding
    return different("set")


def _missing_or_extra(ours: list[Meaning], theirs: list[Meaning], hints: Hints, free: Finding) -> Finding:
    """Intermediate values listed beside the answer are not a second answer: "a = 2, b = 3, a + b = 5"."""
    if len(theirs) == 1 and any(isinstance(member, Named) for member in ours):
        partners = [compare_meanings(member, theirs[0], hints) for member in ours]
        if any(partner.decision is not Decision.INCORRECT for partner in partners):
            return unsure("several_values")
    return free
