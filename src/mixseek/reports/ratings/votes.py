"""Votes between two responses, what length does to them, and juries: as a JSON document, and as sections."""

from collections.abc import Iterator, Sequence
from typing import Any

from mixseek.analysis.votes.found import ORDERS, JurySection, LengthLine, VoteLine, VoteStatistics
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.shown import shown_html, shown_text
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import Cell, Section, Sentence, TableRows, notes, number_cell, sections_of
from mixseek.reports.ratings.statistics import interval_document
from mixseek.reports.wording.numbers import NOTHING, estimate_text, lead_ends_text, lead_text, p_text, percent
from mixseek.stats.intervals import Interval, wilson_interval
from mixseek.stats.jury import ASSUMPTION
from mixseek.text.phrases import plural


def votes_document(statistics: VoteStatistics) -> dict[str, Any]:
    """One JSON document; a number that cannot be had is null."""
    return {
        "schema": schema_id(DocumentName.VOTES),
        "source": statistics.source,
        "ratings": statistics.ratings,
        "items": statistics.items,
        "questions": statistics.questions,
        "human": statistics.truth,
        "votes": [_vote_document(line) for line in statistics.votes],
        "length": [_length_document(line) for line in statistics.length],
        "jury": _jury_document(statistics.jury) if statistics.jury else None,
        "notes": list(statistics.notes),
    }


def _vote_document(line: VoteLine) -> dict[str, Any]:
    position = line.position
    return {
        "judge": line.judge,
        "both_orders": {
            "pairs": position.pairs,
            "with_null": position.with_null,
            "with_tie": position.with_tie,
            "decisive": position.decisive,
            "consistent": position.consistent,
            "first_both": position.first_both,
            "second_both": position.second_both,
            "consistency": _share_document(position.consistent, position.decisive, line.consistency),
            "position_bias": position.bias,
            "position_bias_interval": interval_document(line.bias),
            "first_shown_rate": position.first_shown_rate,
            "sign_test_p": position.sign_test_p,
            "accuracy_both_orders": position.accuracy_both_orders,
            "accuracy_mean_of_orders": position.accuracy_mean_of_orders,
        },
        "all_votes": {
            "votes": line.decisive,
            "ties": line.count(0.5),
            "missing": line.count(None),
            "first_shown": _share_document(line.first_votes, line.decisive, line.first_shown),
            "accuracy": line.accuracy.share,
            "by_order": {
                order: {
                    "first": line.votes_for(order, first=True),
                    "second": line.votes_for(order, first=False),
                    "tie": line.count(0.5, order),
                    "missing": line.count(None, order),
                }
                for order in ORDERS
            },
        },
    }


def _share_document(part: int, whole: int, interval: Interval | None) -> dict[str, Any] | None:
    """A share with Wilson's limits, which take pairs for independent, and the interval over questions."""
    if not whole:
        return None
    wilson = wilson_interval(part, whole)
    ends = {"low": wilson.low, "high": wilson.high, "over_questions": interval_document(interval)}
    return {"n": part, "value": part / whole, **ends}


def _length_document(line: LengthLine) -> dict[str, Any]:
    fit = line.fit
    coefficients = {}
    for place, name in enumerate(line.predictors if fit is not None else ()):
        assert fit is not None
        coefficients[name] = {
            "value": fit.coefficients[place],
            "interval": interval_document(fit.interval(place)),
            "se": fit.se[place],
            "se_clustered": fit.clustered_se[place],
            "se_hc3": fit.hc3[place] if fit.hc3 is not None else None,
        }
    return {
        "judge": line.judge,
        "model": "logit" if line.is_vote else "least squares",
        "n": line.n,
        "state": "estimated" if fit is not None else "not estimable",
        "coefficients": coefficients,
    }


def _jury_document(section: JurySection) -> dict[str, Any]:
    best, estimated = section.best, section.estimated
    return {
        "items": section.items,
        "votes": section.votes,
        "labels": list(section.labels),
        "majority": {"accuracy": section.majority.share, "ties": section.ties},
        "dawid_skene": {
            "accuracy": section.estimated_accuracy.share,
            "prior": dict(zip(section.labels, estimated.prior.values(), strict=True)),
            "log_likelihood": estimated.log_likelihood,
            "iterations": estimated.iterations,
            "has_converged": estimated.has_converged,
            "assumption": ASSUMPTION,
        },
        "best_single": {"judge": best.judge, "accuracy": best.accuracy.share} if best else None,
        "mean_single": section.mean_single,
        "judges": [
            {"judge": voter.judge, "n": voter.accuracy.known, "accuracy": voter.accuracy.share}
            for voter in section.voters
        ],
    }


# For people.


@sections_of.register
def votes_sections(statistics: VoteStatistics) -> Iterator[Section]:
    """Order first, then length, then the jury."""
    counts = (
        plural(statistics.ratings, "rating"),
        plural(statistics.items, "item"),
        plural(statistics.questions, "question"),
    )
    yield Section(None, (Sentence(f"{statistics.source}: {', '.join(counts)}", ""), *notes(statistics.notes)))
    yield from _position_sections(statistics)
    yield _length_section(statistics.length)
    if statistics.jury is not None:
        yield _jury_section(statistics.jury)


shown_text.register(VoteStatistics, result_text)
shown_html.register(VoteStatistics, result_html)


def _share(value: float | None, interval: Interval | None = None) -> str:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return estimate_text(value, low, high, is_binary=True)


def _bias(line: VoteLine) -> str:
    lead = lead_text(line.position.bias, is_binary=True)
    return f"{lead} ({lead_ends_text(line.bias.low, line.bias.high, is_binary=True)})" if line.bias else lead


def _position_sections(statistics: VoteStatistics) -> Iterator[Section]:
    heads = ["judge", ">pairs", ">none", ">ties", ">consistent", ">order bias", ">p"]
    if statistics.truth is not None:
        heads += [">right twice", ">right"]
    rows: list[Sequence[Cell]] = []
    for line in statistics.votes:
        position = line.position
        cells: list[Cell] = [
            line.judge,
            number_cell(position.pairs),
            number_cell(position.with_null),
            number_cell(position.with_tie),
            _share(position.consistency, line.consistency),
            _bias(line),
            p_text(position.sign_test_p) if position.decisive else NOTHING,
        ]
        if statistics.truth is not None:
            cells += [_share(position.accuracy_both_orders), _share(position.accuracy_mean_of_orders)]
        rows.append(cells)
    explanation = (
        "order bias: how much oftener the first of the two won in both orders than the last; intervals over questions"
    )
    if rows:
        yield Section("Pairs shown in both orders", (TableRows(heads, rows), Sentence(explanation)))
    votes = [
        (
            line.judge,
            number_cell(line.decisive),
            number_cell(line.count(0.5)),
            number_cell(line.count(None)),
            _share(line.first_votes / line.decisive, line.first_shown) if line.decisive else NOTHING,
            _share(line.accuracy.share),
        )
        for line in statistics.votes
    ]
    heads = ["judge", ">votes", ">ties", ">none", ">for the first shown", ">right"]
    yield Section("All votes", [TableRows(heads, votes)])


def _length_section(lines: Sequence[LengthLine]) -> Section:
    def rows() -> Iterator[Sequence[Cell]]:
        for line in lines:
            if line.fit is None:
                yield line.judge, number_cell(line.n), NOTHING, NOTHING, "cannot be estimated"
                continue
            place = len(line.predictors) - 1
            interval = line.fit.interval(place)
            is_clear = interval is not None and interval.leaves_out_nought
            yield (
                line.judge,
                number_cell(line.n),
                lead_text(line.fit.coefficients[place], is_binary=False),
                lead_ends_text(interval.low, interval.high, is_binary=False) if interval else NOTHING,
                "clear" if is_clear else "not clear",
            )

    what = (
        "log odds of A for each ln(A's length / B's)"
        if any(line.is_vote for line in lines)
        else ("points ahead of the others for each ln of length")
    )
    heads = ("judge", ">n", ">slope", ">95% interval", "")
    return Section(f"Length: {what}", [TableRows(heads, list(rows()))])


def _jury_section(section: JurySection) -> Section:
    best = section.best
    rows: list[Sequence[Cell]] = [
        ("majority", _share(section.majority.share), f"{plural(section.ties, 'tie counts', 'ties count')} 1/k"),
        ("Dawid–Skene", _share(section.estimated_accuracy.share), plural(section.estimated.iterations, "iteration")),
        ("judges, on average", _share(section.mean_single), plural(len(section.voters), "judge")),
    ]
    if best is not None:
        rows.append(("best judge, known afterwards", _share(best.accuracy.share), best.judge))
    title = f"Jury: {plural(section.votes, 'vote')} on {plural(section.items, 'item')}"
    shares = zip(section.labels, section.estimated.prior.values(), strict=True)
    common = [f"{label} {percent(share)}" for label, share in shares]
    sentences = (f"Dawid–Skene finds {', '.join(common)}", ASSUMPTION)
    return Section(title, (TableRows(("", ">right", ""), rows), *notes(sentences)))
