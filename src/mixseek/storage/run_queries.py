"""The SQL behind RunIndex: grouping and choosing; texts are read from the journal, at the places that it says."""

_COUNTS = """count(*) FILTER (status = 'valid'), count(*) FILTER (status = 'invalid'),
    count(*) FILTER (status = 'undecided'), count(*) FILTER (status = 'missing'),
    avg(score) FILTER (status = 'valid')"""

# A model on its own output is a control, beside all statistics and in none of them.
TOTALS = f"""SELECT judge, {_COUNTS} FROM outcomes WHERE run = $run AND NOT is_control
    GROUP BY judge, judge_order ORDER BY judge_order, judge"""  # noqa: S608 - column names of ours

FINAL_TOTALS = f"SELECT {_COUNTS} FROM outcomes WHERE run = $run AND is_final AND NOT is_control"  # noqa: S608 - column names of ours

# Sums of valid scores only: an invalid judgment has no number to add.
OUTCOME_COUNTS = """
    SELECT judge, task_name, status, verdict, error_type, count(*),
        coalesce(sum(score) FILTER (status = 'valid'), 0), coalesce(sum(score * score) FILTER (status = 'valid'), 0),
        is_control
    FROM (SELECT * FROM outcomes WHERE run = $run AND (is_final OR NOT $final_only)) AS outcomes
    JOIN (SELECT key, task_name FROM samples WHERE run = $run) AS samples USING (key)
    GROUP BY judge, judge_order, task_name, status, verdict, error_type, is_control
    ORDER BY judge_order, judge, task_name NULLS LAST, status, verdict, error_type, is_control"""

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

FLAG_COUNTS = """
    SELECT judge, flag.flag, flag.detail, count(*)
    FROM (SELECT judge, judge_order, unnest(flags) AS flag FROM outcomes
        WHERE run = $run AND status = 'invalid' AND NOT is_control)
    GROUP BY judge, judge_order, flag.flag, flag.detail
    ORDER BY count(*) DESC, judge_order, flag.flag, flag.detail LIMIT $limit"""

REASON_COUNTS = """
    SELECT judge, status, reason, count(*) FROM outcomes
    WHERE run = $run AND reason IS NOT NULL AND NOT is_control
    GROUP BY judge, judge_order, status, reason ORDER BY count(*) DESC, judge_order, status, reason LIMIT $limit"""

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
