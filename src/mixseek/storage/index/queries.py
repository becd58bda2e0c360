"""The SQL behind RunIndex: grouping and choosing; texts are read from the journal, at the places that it says."""

from collections.abc import Sequence

from mixseek.domain.counts import OWN_PARTS

_COUNTS = """count(*) FILTER (status = 'valid'), count(*) FILTER (status = 'invalid'),
    count(*) FILTER (status = 'undecided'), count(*) FILTER (status = 'missing'),
    avg(score) FILTER (status = 'valid')"""

# A model on its own output is a control, beside all statistics and in none of them.
TOTALS = f"""SELECT judge, {_COUNTS} FROM outcomes WHERE run = $run AND NOT is_control
    GROUP BY judge, judge_order ORDER BY judge_order, judge"""  # noqa: S608 - column names of ours

FINAL_TOTALS = f"SELECT {_COUNTS} FROM outcomes WHERE run = $run AND is_final AND NOT is_control"  # noqa: S608 - column names of ours

# Called correct by an answer that does not stand in the response: valid, but nothing to rely on.
IS_UNVERIFIED = "(status = 'valid' AND is_correct AND NOT is_verified)"


def unit_sums(units: str, groups: Sequence[str]) -> str:
    """The one query behind every interval: from units to the columns of UnitSums, for each group.

    `units` gives a row for each unit (a sample, mostly) of each group, with the columns question, value, lowest and
    highest. Questions first, because samples of one question resemble each other.
    """
    named = ", ".join(groups)
    first = f"{named}, " if named else ""
    grouped = f"GROUP BY {named} ORDER BY {named}" if named else ""
    return f"""
    WITH questions AS (
        SELECT {first}count(*) AS samples, count(value) AS n, coalesce(sum(value), 0) AS s,
            coalesce(sum(value * value), 0) AS squares, sum(lowest) AS lowest, sum(highest) AS highest
        FROM (SELECT {first}question, value::DOUBLE AS value, lowest::DOUBLE AS lowest, highest::DOUBLE AS highest
            FROM ({units})) GROUP BY {first}question
    )
    SELECT {first}coalesce(sum(samples), 0)::BIGINT, coalesce(sum(n), 0)::BIGINT, count(*) FILTER (n > 0),
        coalesce(sum(s), 0), coalesce(sum(squares), 0), coalesce(sum(s * s), 0), coalesce(sum(n * s), 0),
        coalesce(sum(n * n), 0)::DOUBLE, coalesce(sum(lowest), 0), coalesce(sum(highest), 0)
    FROM questions {grouped}"""  # noqa: S608 - our own text


def sample_units(judged: str, groups: Sequence[str]) -> str:
    """One row a sample and group: whoever judged it how often, its scores are averaged first.

    `judged` gives a row for each judgment with key, question_id, status, score, is_unverified and the group's columns.
    """
    first = "".join(f"{name}, " for name in groups)
    return f"""
        SELECT {first}coalesce(any_value(question_id), key) AS question, avg(score) FILTER (status = 'valid') AS value,
            avg(CASE WHEN status = 'valid' AND NOT is_unverified THEN score ELSE 0 END) AS lowest,
            avg(CASE WHEN status = 'valid' THEN score ELSE 1 END) AS highest
        FROM ({judged}) GROUP BY {first}key"""  # noqa: S608 - our own text


def _judged(index: str = "") -> str:
    """Every judgment with the columns that it can be grouped by; `index` is the name of an attached one, with a dot."""
    return f"""
    SELECT outcomes.key AS key, question_id, judge, task_name, target_model, prompt_variant, status, score,
        is_unverified
    FROM (SELECT key, judge, status, score, coalesce({IS_UNVERIFIED}, false) AS is_unverified FROM {index}outcomes
        WHERE is_control = $control AND (is_final OR NOT $final_only)) AS outcomes
    JOIN {index}samples AS samples ON samples.key = outcomes.key"""  # noqa: S608 - our own text


def judged_unit_sums(groups: Sequence[str]) -> str:
    """Of all judgments of a run, by judge, task_name, target_model or prompt_variant."""
    return unit_sums(sample_units(_judged(), groups), groups)


def pooled_unit_sums(indexes: Sequence[str]) -> str:
    """Of several attached runs together: a sample that several of them judge is one, as its key says."""
    everything = " UNION ALL ".join(_judged(f"{index}.") for index in indexes)
    return unit_sums(sample_units(everything, ()), ())


def _reason_of(column: str) -> str:
    """Alike for all tellings of one reason."""
    pattern = OWN_PARTS.replace("'", "''")
    return f"regexp_replace({column}, '{pattern}', '_', 'g')"


# The first finding of each says what is wrong.
FAILURE_GROUPS = f"""
    SELECT judge, status, any_value(why ORDER BY position), count(*), any_value(id ORDER BY position)
    FROM (SELECT judge, judge_order, status, position, key,
            CASE WHEN len(flags) > 0 THEN flags[1].flag || ': ' || flags[1].detail
                ELSE coalesce(reason, 'no reason recorded') END AS why
        FROM outcomes WHERE run = $run AND status IN ('invalid', 'missing')) AS outcomes
    JOIN (SELECT key, id FROM samples WHERE run = $run) AS samples USING (key)
    GROUP BY judge, judge_order, status, {_reason_of("why")}
    ORDER BY count(*) DESC, judge_order, status, min(position)"""  # noqa: S608 - our own text

# A judgment may carry several warnings.
WARNING_COUNTS = """
    SELECT judge, warning, count(*)
    FROM (SELECT judge, judge_order, unnest(from_json(warnings, '["VARCHAR"]')) AS warning
        FROM outcomes WHERE run = $run AND status = 'valid' AND NOT is_control AND len(warnings) > 2)
    GROUP BY judge, judge_order, warning ORDER BY judge_order, judge, count(*) DESC, warning"""

REASONING_COUNTS = """
    SELECT judge, task_name, target_model, reasoning_score, is_correct, count(*)
    FROM (SELECT key, judge, judge_order, reasoning_score, is_correct FROM outcomes
        WHERE run = $run AND status = 'valid' AND NOT is_control AND reasoning_score IS NOT NULL
            AND is_correct IS NOT NULL) AS outcomes
    JOIN (SELECT key, task_name, target_model FROM samples WHERE run = $run) AS samples USING (key)
    GROUP BY judge, judge_order, task_name, target_model, reasoning_score, is_correct
    ORDER BY judge_order, judge, task_name NULLS LAST, target_model NULLS LAST, reasoning_score, is_correct"""

# A reply asked for after an invalid one has a number above 1; recorded replies have none, and are asked for once.
# A first reply was invalid if another one was asked for, or if it was the last and its judgment is.
REASK_COUNTS = """
    SELECT judge, count(*), count(*) FILTER (asks > 1), count(*) FILTER (asks > 1 OR status = 'invalid')
    FROM (SELECT key, judge, coalesce(take, 1) AS take, max(coalesce(ask, 1)) AS asks FROM replies WHERE run = $run
        GROUP BY key, judge, coalesce(take, 1)) AS replies
    JOIN (SELECT key, judge, judge_order, take, status FROM outcomes WHERE run = $run) AS outcomes
        USING (key, judge, take)
    GROUP BY judge, judge_order ORDER BY judge_order, judge"""

# Sums of valid scores only: an invalid judgment has no number to add.
OUTCOME_COUNTS = f"""
    SELECT judge, task_name, status, verdict, error_type, count(*),
        coalesce(sum(score) FILTER (status = 'valid'), 0), coalesce(sum(score * score) FILTER (status = 'valid'), 0),
        is_control, count(*) FILTER ({IS_UNVERIFIED}), target_model
    FROM (SELECT * FROM outcomes WHERE run = $run AND (is_final OR NOT $final_only)) AS outcomes
    JOIN (SELECT key, task_name, target_model FROM samples WHERE run = $run) AS samples USING (key)
    GROUP BY judge, judge_order, task_name, target_model, status, verdict, error_type, is_control
    ORDER BY judge_order, judge, task_name NULLS LAST, target_model NULLS LAST, status, verdict, error_type,
        is_control"""  # noqa: S608 - our own text

# Only samples with at least two valid takes can show a spread.
TAKE_SPREADS = """
    SELECT judge, count(*), count(*) FILTER (verdicts = 1), avg(spread)
    FROM (SELECT judge, judge_order, key, count(DISTINCT verdict) AS verdicts, stddev_pop(score) AS spread
        FROM outcomes WHERE run = $run AND status = 'valid' GROUP BY judge, judge_order, key HAVING count(*) > 1)
    GROUP BY judge, judge_order ORDER BY judge_order, judge"""

# A rule that stands twice in a trace counts once.
RULE_COUNTS = """
    SELECT judge, rule, status, count(*), coalesce(sum(score) FILTER (status = 'valid'), 0)
    FROM (SELECT judge, judge_order, status, score, unnest(list_distinct(rules)) AS rule
        FROM outcomes WHERE run = $run AND NOT is_control)
    GROUP BY judge, judge_order, rule, status ORDER BY judge_order, judge, count(*) DESC, rule, status"""

FLAG_COUNTS = f"""
    SELECT judge, flag.flag, any_value(flag.detail ORDER BY position) AS first, count(*), count(DISTINCT flag.detail)
    FROM (SELECT judge, judge_order, position, unnest(flags) AS flag FROM outcomes
        WHERE run = $run AND status = 'invalid' AND NOT is_control)
    GROUP BY judge, judge_order, flag.flag, {_reason_of("flag.detail")}
    ORDER BY count(*) DESC, judge_order, flag.flag, first LIMIT $limit"""  # noqa: S608 - our own text

REASON_COUNTS = f"""
    SELECT judge, status, any_value(reason ORDER BY position) AS first, count(*), count(DISTINCT reason)
    FROM outcomes WHERE run = $run AND reason IS NOT NULL AND NOT is_control
    GROUP BY judge, judge_order, status, {_reason_of("reason")}
    ORDER BY count(*) DESC, judge_order, status, first LIMIT $limit"""  # noqa: S608 - our own text

RESPONSE_LENGTHS = """
    SELECT judge, status, verdict, count(*), min(response_characters), median(response_characters),
        avg(response_characters), quantile_cont(response_characters, 0.9), max(response_characters)
    FROM (SELECT key, judge, judge_order, status, verdict FROM outcomes WHERE run = $run) AS outcomes
    JOIN (SELECT key, response_characters FROM samples WHERE run = $run) AS samples USING (key)
    GROUP BY judge, judge_order, status, verdict ORDER BY judge_order, judge, status, verdict"""

ROW_COLUMNS = "outcomes.position, samples.position, key, judge, take, status, is_final, is_control, reason"

_WANTED = """run = $run AND ($judge IS NULL OR judge = $judge) AND ($status IS NULL OR status = $status)"""

_CHOOSE = f"""
    SELECT {ROW_COLUMNS} FROM (SELECT * FROM outcomes WHERE {_WANTED}{{kinds}}) AS outcomes
    JOIN (SELECT key, position, response_characters FROM samples WHERE run = $run) AS samples USING (key)
    ORDER BY {{order}} LIMIT $limit OFFSET $offset"""  # noqa: S608 - column names of ours

# Keys are digests, so their order is a fair lot, and the same one every time. A score of nought is a kind of its own:
# critical fails, which a report lists first, are among them.
_SOME_OF_EACH_KIND = f""" AND position IN (
        SELECT unnest(arg_min(position, key || '-' || take, $per_kind)) FROM outcomes WHERE {_WANTED}
        GROUP BY judge, status, coalesce(score < 0.5, false), coalesce(score = 0, false))"""  # noqa: S608 - names of ours

_DATASET_ORDER = "samples.position, judge_order, judge, take"
_ORDERS = {
    "dataset": _DATASET_ORDER,
    "worst_first": f"score NULLS LAST, {_DATASET_ORDER}",
    "longest_first": f"response_characters DESC, {_DATASET_ORDER}",
}
CHOOSE = {name: _CHOOSE.format(order=order, kinds="") for name, order in _ORDERS.items()}
CHOOSE_OF_EACH_KIND = {name: _CHOOSE.format(order=order, kinds=_SOME_OF_EACH_KIND) for name, order in _ORDERS.items()}

FIND = f"""
    SELECT {ROW_COLUMNS} FROM samples JOIN outcomes USING (run, key)
    WHERE run = $run AND samples.id = $sample_id ORDER BY judge_order, judge, take"""  # noqa: S608 - names of ours

SIMILAR = """
    SELECT id FROM samples WHERE run = $run
    ORDER BY levenshtein(left(id, 100), left($sample_id, 100)), position LIMIT $limit"""

# The last attempt is the one that was judged. Recorded replies do not say which take they are: there is one.
REPLIES = """
    SELECT key, judge, coalesce(take, 1), max(position) FROM replies
    JOIN (SELECT unnest($keys) AS key) AS page USING (key)
    WHERE run = $run GROUP BY key, judge, coalesce(take, 1)"""

PLACES = "SELECT first, offsets FROM places WHERE kind = $kind ORDER BY first"

# Live judges are known by their own names; a recorded reply may say whose it is.
JUDGE_MODELS = """
    SELECT judge, any_value(judge_model) FROM replies WHERE run = $run AND judge_model IS NOT NULL
    GROUP BY judge HAVING count(DISTINCT judge_model) = 1"""
