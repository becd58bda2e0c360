-- From a run's journal and index to units that labels can be joined with.

-- name: texts
-- Which judged text each sample has: the digest of `domain.labels.text_digest`, in SQL. A planned output that is not
-- there, or a response that nobody knows, is no text. `label` is what the dataset itself says.
COPY (
    SELECT key, any_value(CASE WHEN is_absent THEN NULL ELSE sha256(strlen(asked) || ':' || asked || said) END) AS text,
        any_value(label) AS label
    FROM (
        SELECT key, coalesce(nullif(sample.question, ''), sample.ground_truth, '') AS asked, sample.response AS said,
            sample.metadata.label AS label,
            coalesce(sample.metadata.planned_without_output, false) OR coalesce(sample.metadata.response_unknown, false)
                AS is_absent
        FROM read_json($journal, format = 'newline_delimited', ignore_errors = true,
            maximum_object_size = $object_bytes,
            columns = {t: 'VARCHAR', key: 'VARCHAR', sample: 'STRUCT(question VARCHAR, response VARCHAR,
                ground_truth VARCHAR, metadata STRUCT(label VARCHAR, planned_without_output BOOLEAN,
                response_unknown BOOLEAN))'})
        WHERE t = 'sample')
    GROUP BY key) TO $target (FORMAT parquet, COMPRESSION zstd)

-- name: units
-- One row a sample; those without a question of their own stand with others of the same text.
CREATE TEMP TABLE units AS
    SELECT judged.* EXCLUDE (question), text, label,
        CASE WHEN judged.question = judged.key THEN coalesce(text, judged.key) ELSE judged.question END AS question,
        CASE WHEN state = 'valid' THEN coalesce(verdict, 'split') ELSE state END AS class
    FROM ({units}) AS judged JOIN read_parquet($texts) AS texts USING (key)

-- name: judged_units
-- Until a panel's rule says it: final valid scores, averaged.
SELECT key, min(sample_position) AS sample, any_value(id) AS id, coalesce(any_value(question_id), key) AS question,
    any_value(target_model) AS target, any_value(prompt_variant) AS variant, any_value(task_name) AS task_name,
    any_value(task_type) AS task_type, any_value(language) AS language,
    avg(score) FILTER (status = 'valid') AS value,
    avg(CASE WHEN status = 'valid' AND NOT is_unverified THEN score ELSE 0 END) AS lowest,
    avg(CASE WHEN status = 'valid' THEN score ELSE 1 END) AS highest,
    CASE min(CASE status WHEN 'valid' THEN 0 WHEN 'invalid' THEN 2 WHEN 'undecided' THEN 3 ELSE 4 END)
        WHEN 0 THEN 'valid' WHEN 2 THEN 'invalid' WHEN 3 THEN 'undecided' ELSE 'missing' END AS state,
    CASE WHEN count(DISTINCT verdict) FILTER (status = 'valid') = 1 THEN any_value(verdict) FILTER (status = 'valid')
        END AS verdict
    FROM run_index.judged WHERE is_final AND NOT is_control GROUP BY key

-- name: population
-- All texts of the run as one digest: runs of the same texts have the same.
SELECT count(*), sha256(coalesce(string_agg(text, '' ORDER BY text), ''))
    FROM (SELECT DISTINCT text FROM units WHERE text IS NOT NULL)

-- name: sizes
-- Strata of texts that no earlier draw has taken; a text that several samples share belongs to the first of them.
SELECT {columns}, count(*) FROM ({open}) GROUP BY ALL ORDER BY ALL

-- name: open
SELECT text, arg_min(id, sample) AS id, arg_min(sample, sample) AS sample, {columns}
    FROM units WHERE text IS NOT NULL AND text NOT IN (SELECT unnest($taken)) GROUP BY text

-- name: lots
-- A lot for each text, from the seed: the smallest are drawn. The order of the sheet is another lot.
SELECT text, id, sample, sha256($seed || ' order ' || text) AS place
    FROM ({open}) WHERE {stratum} ORDER BY sha256($seed || ' lot ' || text) LIMIT $count

-- name: named
-- Samples by id; ids are unique in a run.
SELECT id, text, sample, task_type FROM units WHERE id IN (SELECT unnest($ids))

-- name: of_texts
SELECT text, arg_min(id, sample), min(sample), arg_min(task_type, sample) FROM units
    WHERE text IN (SELECT unnest($texts)) GROUP BY text

-- name: dataset_labels
-- Text and what the dataset says about it, where it says one thing only.
SELECT text, min(label), arg_min(id, sample) FROM units WHERE label IS NOT NULL AND text IS NOT NULL
    GROUP BY text HAVING count(DISTINCT label) = 1
