"""From judgments to what an interval counts: samples, summed by question.

Whatever is averaged, compared or given an interval is first brought to one row a sample (`sample_units`, or
`panel_units`: more judges or repeats are no more samples), then summed by question (`unit_sums`: samples of one
question resemble each other). A new statistic needs a SELECT of judgments in `queries.sql` or `scored.sql`, and
these two functions.
"""

from collections.abc import Sequence

from mixseek.domain.counting import Counting
from mixseek.domain.response_states import ResponseState
from mixseek.index.counting import counted_value, has_ended, worst_end


def unit_sums(units: str, groups: Sequence[str]) -> str:
    """SQL from units (of each group, rows with question, value, lowest and highest) to the columns of UnitSums."""
    named = ", ".join(groups)
    first = f"{named}, " if named else ""
    grouped = f"GROUP BY {named} ORDER BY {named}" if named else ""
    # Joined, not windows over everything: those take twenty times as long where each sample is a question.
    same = " AND ".join(f"questions.{name} IS NOT DISTINCT FROM wholes.{name}" for name in groups)
    same = f"WHERE {same}" if same else ""
    return f"""
    WITH questions AS (
        SELECT {first}count(*) AS samples, count(value) AS n, coalesce(sum(value), 0) AS s,
            coalesce(sum(value * value), 0) AS squares, sum(lowest) AS lowest, sum(highest) AS highest
        FROM (SELECT {first}question, value::DOUBLE AS value, lowest::DOUBLE AS lowest, highest::DOUBLE AS highest
            FROM ({units})) GROUP BY {first}question
    ),
    wholes AS (
        SELECT {first}sum(s) AS all_s, nullif(sum(n), 0) AS all_n, count(*) FILTER (n > 0) AS counted
        FROM questions {f"GROUP BY {named}" if named else ""}
    ),
    beside_all AS (
        SELECT questions.*, s - n * all_s / all_n AS e, n / all_n AS h, counted FROM questions, wholes {same}
    )
    SELECT {first}coalesce(sum(samples), 0)::BIGINT, coalesce(sum(n), 0)::BIGINT, count(*) FILTER (n > 0),
        coalesce(sum(s), 0), coalesce(sum(squares), 0), coalesce(sum(s * s), 0), coalesce(sum(n * s), 0),
        coalesce(sum(n * n), 0)::DOUBLE, coalesce(sum(lowest), 0), coalesce(sum(highest), 0),
        coalesce(sum(e * e / pow(greatest(1 - h, 1e-9), least(4, h * counted))), 0), coalesce(sum(e * e * e), 0)
    FROM beside_all {grouped}"""  # noqa: S608 - our own text


def sample_units(judged: str, groups: Sequence[str]) -> str:
    """One row a sample and group, of judgments with key, question_id, status, score, is_unverified and the groups."""
    first = "".join(f"{name}, " for name in groups)
    return f"""
        SELECT {first}coalesce(any_value(question_id), key) AS question, avg(score) FILTER (status = 'valid') AS value,
            avg(CASE WHEN status = 'valid' AND NOT is_unverified THEN score ELSE 0 END) AS lowest,
            avg(CASE WHEN status = 'valid' THEN score ELSE 1 END) AS highest
        FROM ({judged}) GROUP BY {first}key"""  # noqa: S608 - our own text


def judged_unit_sums(groups: Sequence[str], counting: Counting) -> str:
    """SQL for all judgments of one index; what is in a mean is as in the units of a panel."""
    first = "".join(f"{name}, " for name in groups)
    score = "CASE WHEN status = 'valid' THEN score END"
    is_cut_off = has_ended(ResponseState.CUT_OFF, "judged")
    value = counted_value(counting, score, "status", is_cut_off=is_cut_off, is_pair="length_b IS NOT NULL")
    is_finished = f"{worst_end('judged')} = 'finished'"
    units = f"""
        SELECT {first}coalesce(any_value(question_id), key) AS question, avg({value}) AS value,
            avg(CASE WHEN status = 'valid' AND NOT is_unverified AND {is_finished} THEN score ELSE 0 END) AS lowest,
            avg(CASE WHEN status = 'valid' AND {is_finished} THEN score ELSE 1 END) AS highest
        FROM judged WHERE is_control = $control AND (is_final OR NOT $final_only)
        GROUP BY {first}key"""  # noqa: S608 - our own names
    return unit_sums(units, groups)
