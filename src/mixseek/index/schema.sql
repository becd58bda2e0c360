-- The tables of an index, and the views that its queries share. Raise SCHEMA_VERSION with any change here or in
-- loading.sql: an index of another version is thrown away and made anew. Views that few runs have a use for are made
-- where there is one: to make them all is half the time that an index of a small run takes.

-- name: tables
CREATE TABLE index_state (
    version INTEGER, journal_bytes BIGINT, journal_changed_ns BIGINT, indexed_bytes BIGINT, last_block VARCHAR,
    verified_bytes BIGINT, verified_crc32 BIGINT, longest_bytes BIGINT, judges VARCHAR[], cascade BOOLEAN,
    protocol VARCHAR, made_by VARCHAR, is_running BOOLEAN
);

-- Texts of samples and replies stay in the journal: this says at which byte each line begins, as arrays of 64-bit
-- numbers for consecutive positions. `position` counts the lines of one kind in the order of the journal.
CREATE TABLE places (kind VARCHAR, first BIGINT, lines BIGINT, offsets BLOB);

CREATE TABLE samples (
    key VARCHAR, position BIGINT, id VARCHAR, task_name VARCHAR, task_type VARCHAR, question_id VARCHAR,
    prompt_variant VARCHAR, target_model VARCHAR, output_id VARCHAR, language VARCHAR,
    -- A digest of what a judge is shown of the sample, whatever the sample is called.
    shown UBIGINT,
    -- How long the response is; of pairs who wrote the other one, how long that is, and which people prefer (A, B, tie).
    target_b VARCHAR, length_a BIGINT, length_b BIGINT, human VARCHAR,
    -- How the response ended, and the other one of a pair: see `domain.response_states`. Null where there is none.
    response_state VARCHAR, response_state_b VARCHAR
);

CREATE TABLE replies (
    key VARCHAR, position BIGINT, judge VARCHAR, attempt INTEGER, take INTEGER, is_cached BOOLEAN, ask INTEGER,
    tries INTEGER, requests INTEGER, latency_seconds DOUBLE, finish_reason VARCHAR, model VARCHAR,
    input_tokens BIGINT, output_tokens BIGINT, cached_input_tokens BIGINT, cost_usd DECIMAL(24, 12),
    judge_model VARCHAR, presentation VARCHAR,
    -- The endpoint repeated a key, and `[key]` stands in its place.
    is_masked BOOLEAN,
    cache_write_tokens BIGINT, reasoning_tokens BIGINT, is_batched BOOLEAN,
    saved_by_cache_usd DECIMAL(24, 12), saved_by_batch_usd DECIMAL(24, 12)
);

CREATE TABLE outcomes (
    key VARCHAR, position BIGINT, judge VARCHAR, judge_order INTEGER, take INTEGER, is_final BOOLEAN,
    status VARCHAR, method VARCHAR, score DOUBLE, verdict VARCHAR,
    is_correct BOOLEAN, extracted_answer VARCHAR, reasoning_score INTEGER, error_type VARCHAR,
    is_verified BOOLEAN, warnings VARCHAR, checks VARCHAR,
    fields JSON, span BIGINT[], rules VARCHAR[], flags STRUCT(flag VARCHAR, detail VARCHAR)[], repairs VARCHAR[],
    reason VARCHAR, is_control BOOLEAN, is_permanent BOOLEAN, lost_tries INTEGER,
    lost_bill STRUCT(input_tokens BIGINT, output_tokens BIGINT, cost_usd DECIMAL(24, 12)),
    -- How sure the judge is (`domain.confidence`): the shares are a JSON object, by verdict. All null where nothing says so.
    confidence_value DOUBLE, confidence_source VARCHAR, confidence_shares VARCHAR, confidence_outside DOUBLE,
    expected_score DOUBLE,
    -- Neither reasons nor quotes were asked for.
    is_unexplained BOOLEAN,
    -- Why the tokens of a reply say nothing of how sure the judge is.
    no_confidence VARCHAR
);

-- Every judgment with its sample. Unverified: called correct by an answer that does not stand in the response.
CREATE VIEW judged AS
    SELECT outcomes.*, samples.* EXCLUDE (key, position), samples.position AS sample_position,
        coalesce(status = 'valid' AND is_correct AND NOT is_verified, false) AS is_unverified
    FROM outcomes JOIN samples USING (key);

-- A recorded reply names its judge; the last one to a sample is the one that was judged. Where all recorded replies of a
-- judge are one model's, an absent one would have been its, too.
CREATE VIEW only_models AS
    SELECT judge, any_value(judge_model) AS judge_model FROM replies WHERE judge_model IS NOT NULL
    GROUP BY judge HAVING count(DISTINCT judge_model) = 1;

CREATE VIEW judged_by_model AS
    SELECT judged.*, coalesce(models.judge_model, only_models.judge_model) AS judge_model
    FROM judged
    LEFT JOIN (SELECT key, judge, arg_max(judge_model, position) AS judge_model FROM replies
        WHERE judge_model IS NOT NULL GROUP BY key, judge) AS models USING (key, judge)
    LEFT JOIN only_models USING (judge);

-- For protocols with dimensions; a run without leaves these three empty and pays nothing for them. `position` is the
-- outcome's, so their rows meet; `judge` is who judged, not who was asked to replay it.
CREATE TABLE scored (
    position BIGINT, key VARCHAR, id VARCHAR, judge VARCHAR, judge_order INTEGER,
    question_id VARCHAR, prompt_variant VARCHAR, target_model VARCHAR, language VARCHAR, task_type VARCHAR,
    status VARCHAR, verdict VARCHAR, score DOUBLE, maximum DOUBLE, confidence VARCHAR,
    is_control BOOLEAN, same_family BOOLEAN, is_critical BOOLEAN
);
CREATE TABLE dimension_scores (
    position BIGINT, dimension VARCHAR, dimension_order INTEGER, score DOUBLE, maximum DOUBLE
);
CREATE TABLE evidence (position BIGINT, dimension VARCHAR, stage VARCHAR, problem VARCHAR, quote VARCHAR);

-- name: views_of_pairs
-- Every judgment of a pair: what each order said, and what that came to (see `domain.panels`), always of A and B as
-- they stand in the dataset. `question` is what intervals are clustered by.
CREATE OR REPLACE VIEW pair_votes AS
    SELECT key, sample_position AS sample, id, coalesce(question_id, key) AS question, target_model AS target_a, target_b,
        judge, judge_order, take, status, is_final, is_control, verdict, said[1] AS state,
        said[2] AS verdict_ab, said[3] AS verdict_ba, length_a, length_b, human, method
    FROM (SELECT *, json_extract_string(fields, ['$.state', '$.orders.ab.verdict', '$.orders.ba.verdict']) AS said
        FROM judged WHERE length_b IS NOT NULL);

-- name: views_of_dimensions
-- A model on its own output is a control, beside all statistics and in none of them.
CREATE OR REPLACE VIEW cross_judged AS SELECT * FROM scored WHERE status = 'valid' AND NOT is_control;

CREATE OR REPLACE VIEW marks AS
    SELECT cross_judged.* EXCLUDE (score, maximum), dimension, dimension_order, dimension_scores.score AS score,
        dimension_scores.maximum AS maximum
    FROM dimension_scores JOIN cross_judged USING (position);

CREATE OR REPLACE VIEW quotes AS
    SELECT evidence.*, scored.* EXCLUDE (position) FROM evidence JOIN scored USING (position);

-- Those that have a place in the grid of questions, variants, targets and judges; the best status of a place counts.
CREATE OR REPLACE VIEW placed AS
    SELECT *, CASE status WHEN 'valid' THEN 0 WHEN 'invalid' THEN 1 WHEN 'undecided' THEN 2 ELSE 3 END AS rank
    FROM scored WHERE question_id IS NOT NULL;
