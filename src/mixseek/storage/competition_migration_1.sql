-- The first tables of competitions; released, so never edited. Times are UTC, without a zone in the column: DuckDB needs
-- an extension to hand out times with one.
CREATE TABLE executions (
    execution_id VARCHAR PRIMARY KEY, task VARCHAR NOT NULL, configuration JSON NOT NULL, status VARCHAR NOT NULL,
    started_at TIMESTAMP NOT NULL, ended_at TIMESTAMP
);
CREATE TABLE leader_board (
    execution_id VARCHAR NOT NULL, team_id VARCHAR NOT NULL, team_name VARCHAR NOT NULL,
    round_number INTEGER NOT NULL CHECK (round_number >= 1),
    submission VARCHAR NOT NULL, usage JSON NOT NULL, submitted_at TIMESTAMP NOT NULL,
    score DOUBLE CHECK (score IS NULL OR (isfinite(score) AND score BETWEEN 0 AND 100)),
    details JSON, evaluated_at TIMESTAMP,
    CHECK (score IS NULL OR evaluated_at IS NOT NULL),
    UNIQUE (execution_id, team_id, round_number)
);
CREATE TABLE round_status (
    execution_id VARCHAR NOT NULL, team_id VARCHAR NOT NULL, round_number INTEGER NOT NULL,
    should_continue BOOLEAN, reasoning VARCHAR,
    confidence_score DOUBLE CHECK (confidence_score IS NULL OR confidence_score BETWEEN 0 AND 1),
    no_opinion_reason VARCHAR,
    continues BOOLEAN NOT NULL, stop_reason VARCHAR, decided_by VARCHAR NOT NULL, decided_at TIMESTAMP NOT NULL,
    CHECK (continues = (stop_reason IS NULL)),
    UNIQUE (execution_id, team_id, round_number)
);
CREATE TABLE team_endings (
    execution_id VARCHAR NOT NULL, team_id VARCHAR NOT NULL, team_name VARCHAR, stop_reason VARCHAR NOT NULL,
    message VARCHAR NOT NULL, finished_at TIMESTAMP NOT NULL,
    UNIQUE (execution_id, team_id)
);
