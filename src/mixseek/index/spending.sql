-- name: spending
-- Only live judges write down whether a reply came from the cache. Of places that were told several times the last
-- outcome counts: it tells all that was lost before it.
WITH lines AS MATERIALIZED (
    SELECT * FROM read_json($journal, format = 'newline_delimited', ignore_errors = true,
        maximum_object_size = $object_bytes,
        columns = {t: 'VARCHAR', key: 'VARCHAR', judge: 'VARCHAR', details: 'JSON', take: 'INTEGER',
            lost_tries: 'INTEGER',
            lost_bill: 'STRUCT(input_tokens BIGINT, output_tokens BIGINT, cost_usd DECIMAL(24, 12))'})
), replies AS (
    SELECT judge, json_extract_string(details, ['$.cached', '$.received_on', '$.cost_usd', '$.saved_by_cache_usd',
        '$.saved_by_batch_usd']) AS said
    FROM lines WHERE t = 'reply'
), lost AS (
    SELECT judge, max(lost_bill.cost_usd) AS cost FROM lines WHERE t = 'outcome' AND lost_tries > 0
    GROUP BY key, judge, coalesce(take, 1)
)
SELECT left(said[2], 7) AS month, judge, count(*) AS calls, count(*) FILTER (said[3] IS NULL) AS unpriced,
    coalesce(sum(try_cast(said[3] AS DECIMAL(24, 12))), 0) AS cost,
    coalesce(sum(try_cast(said[4] AS DECIMAL(24, 12))), 0), coalesce(sum(try_cast(said[5] AS DECIMAL(24, 12))), 0)
    FROM replies WHERE said[1] = 'false' GROUP BY ALL
UNION ALL
SELECT NULL, judge, 0, 0, sum(cost), 0, 0 FROM lost WHERE cost > 0 GROUP BY judge
ORDER BY month NULLS LAST, judge
