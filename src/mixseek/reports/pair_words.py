"""Pairs of responses in words, once for terminal and page, and as documents for programs."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.analysis.target_pairs import JudgePairs, PairsReport, Share, share_of
from mixseek.domain.counts import TargetPair
from mixseek.reports.wording.numbers import NOTHING, p_text, percent
from mixseek.reports.wording.scales import range_text
from mixseek.text.messages import Message, counted, join, message, verbatim
from mixseek.text.phrases import plural, shortened
from mixseek.text.visible import make_visible

_NAME_CHARACTERS = 40
# Lines on a terminal after `judge`; the report has the rest.
_SHOWN = 12
_STATES = {
    "agreed": message("pairs.agreed", "agreed"),
    "position": message("pairs.position", "position"),
    "partial": message("pairs.partial", "partial"),
    "single": message("pairs.single", "single"),
}


def share_text(share: Share) -> str:
    """`83.3% (60.1–94.2%)`; a dash where nothing was measured."""
    if share.value is None:
        return NOTHING
    return percent(share.value) + (f" ({range_text(share.interval)})" if share.interval else "")


def target_score_text(pair: TargetPair) -> str:
    """The score of the first of two targets, a tie counting half."""
    return share_text(share_of(pair.units))


def pair_state_text(state: str) -> Message:
    """How the two orders of a pair go together."""
    return _STATES.get(state) or verbatim(state)


def states_text(states: Mapping[str, int]) -> Message:
    """`40 agreed, 3 position`."""
    if not states:
        return message("word.no_verdict", "no verdict")
    named = (
        message("pairs.so_many", "{n} {state}", n=count, state=pair_state_text(name)) for name, count in states.items()
    )
    return join(named, ", ")


def orders_text(fields: Mapping[str, Any]) -> str | None:
    """`A first: A, B first: B (position)`: what each order said of A and B as they are; None where nothing is told."""
    orders: Mapping[str, Any] = fields.get("orders") or {}
    votes = [f"{name[0].upper()} first: {vote.get('verdict') or vote.get('status')}" for name, vote in orders.items()]
    state = f" ({fields['state']})" if fields.get("state") else ""
    return ", ".join(votes) + state if votes else None


def bias_text(judge: JudgePairs) -> Message:
    """Which place it follows, where it follows one; a half is none."""
    position = judge.position
    if not position.decisive:
        return verbatim(NOTHING)
    turned = position.first_both + position.second_both
    if not turned:
        return message("pairs.none_turned", "no pair turned with the order")
    return message(
        "pairs.turned",
        "{pairs} turned with the order: {first} for what came first, {last} for what came last ({p})",
        pairs=counted(turned, "pair"),
        first=position.first_both,
        last=position.second_both,
        p=p_text(position.sign_test_p),
    )


def describe_pairs(report: PairsReport) -> Iterator[str]:
    """A few lines after `judge`."""
    for pair in report.targets[:_SHOWN]:
        names = " against ".join(shortened(make_visible(name), _NAME_CHARACTERS) for name in (pair.first, pair.second))
        without = f", {pair.without:,} without a verdict" if pair.without else ""
        counts = f"{pair.wins:,} won, {pair.ties:,} tied, {pair.losses:,} lost{without}"
        yield f"{names}: {counts}; {target_score_text(pair)}"
    if len(report.targets) > _SHOWN:
        yield f"and {plural(len(report.targets) - _SHOWN, 'pair of targets', 'pairs of targets')} more: see the report"
    for judge in report.judges:
        shares = [f"consistent {share_text(judge.consistency)}", f"ties {share_text(judge.ties)}"]
        shares += [f"agrees with people {share_text(judge.human)}"] if judge.human.value is not None else []
        yield f"{make_visible(judge.judge)}: {', '.join(shares)}; {states_text(judge.states)}"
        if judge.position.decisive:
            yield f"  {bias_text(judge)}"
    if report.human is not None:
        yield f"the panel agrees with people {share_text(report.human)}"


def pairs_document(report: PairsReport) -> dict[str, Any]:
    """`consistency`, `first_shown` and `bias` are of pairs in which both orders name a winner."""
    return {
        "targets": [
            {
                "target": pair.first,
                "against": pair.second,
                **{name: getattr(pair, name) for name in ("wins", "ties", "losses", "without")},
                "score": _share_document(share_of(pair.units)),
            }
            for pair in report.targets
        ],
        "judges": [
            {
                "judge": judge.judge,
                "pairs": judge.position.pairs,
                "without_a_vote": judge.position.with_null,
                "with_a_tie": judge.position.with_tie,
                "consistent": judge.position.consistent,
                "first_both": judge.position.first_both,
                "second_both": judge.position.second_both,
                "bias": judge.position.bias,
                "sign_test_p": judge.position.sign_test_p if judge.position.decisive else None,
                "states": dict(judge.states),
                "consistency": _share_document(judge.consistency),
                "first_shown": _share_document(judge.first_shown),
                "tie_rate": _share_document(judge.ties),
                "human_agreement": _share_document(judge.human),
            }
            for judge in report.judges
        ],
        "human_agreement": _share_document(report.human) if report.human is not None else None,
    }


def _share_document(share: Share) -> dict[str, Any]:
    interval = share.interval
    ends = None if interval is None else {"low": interval.low, "high": interval.high, "method": interval.method}
    return {"value": share.value, "interval": ends, "pairs": share.pairs, "questions": share.questions}
