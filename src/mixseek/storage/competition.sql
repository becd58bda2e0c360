-- What is written to and read from the competitions' tables; see competition_migration_1.sql.

-- name: executions
SELECT execution_id, task, configuration, status, started_at, ended_at FROM executions
    ORDER BY started_at DESC, execution_id

-- name: request
SELECT task, configuration FROM executions WHERE execution_id = $execution

-- name: begin
INSERT INTO executions (execution_id, task, configuration, status, started_at, ended_at)
    VALUES ($execution, $task, $configuration, $running, $at, NULL)

-- name: begin_again
UPDATE executions SET status = $running, ended_at = NULL WHERE execution_id = $execution AND status <> $finished

-- name: finish
UPDATE executions SET status = $status, ended_at = $at WHERE execution_id = $execution

-- name: submission
SELECT submission FROM leader_board WHERE execution_id = $execution AND team_id = $team AND round_number = $round

-- name: submit
INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission, usage, submitted_at)
    VALUES ($execution, $team, $name, $round, $submission, $usage, $at)

-- name: rename
UPDATE leader_board SET team_name = $name WHERE execution_id = $execution AND team_id = $team AND team_name <> $name

-- name: evaluation
SELECT score, details, evaluated_at FROM leader_board
    WHERE execution_id = $execution AND team_id = $team AND round_number = $round

-- name: evaluate
UPDATE leader_board SET score = $score, details = $details, evaluated_at = $at
    WHERE execution_id = $execution AND team_id = $team AND round_number = $round

-- name: decide
INSERT INTO round_status VALUES ($execution, $team, $round, $should_continue, $reasoning, $confidence_score,
    $no_opinion_reason, $continues, $stop_reason, $decided_by, $at)
    ON CONFLICT DO UPDATE SET should_continue = EXCLUDED.should_continue, reasoning = EXCLUDED.reasoning,
    confidence_score = EXCLUDED.confidence_score, no_opinion_reason = EXCLUDED.no_opinion_reason,
    continues = EXCLUDED.continues, stop_reason = EXCLUDED.stop_reason,
    decided_by = EXCLUDED.decided_by, decided_at = EXCLUDED.decided_at

-- name: end_team
INSERT INTO team_endings VALUES ($execution, $team, $name, $reason, $message, $at)
    ON CONFLICT DO UPDATE SET team_name = coalesce(EXCLUDED.team_name, team_name),
    stop_reason = EXCLUDED.stop_reason, message = EXCLUDED.message, finished_at = EXCLUDED.finished_at

-- name: board
SELECT team_id, team_name, round_number, score, json_extract_string(details, '$.metrics[*].details.method') AS methods
    FROM leader_board WHERE execution_id = $execution

-- name: rounds
SELECT team_id, team_name, round_number, submission, usage, submitted_at, score, details, evaluated_at,
    should_continue, reasoning, confidence_score, no_opinion_reason, continues, stop_reason, decided_by, decided_at
    FROM leader_board LEFT JOIN round_status USING (execution_id, team_id, round_number)
    WHERE execution_id = $execution ORDER BY team_id, round_number

-- name: endings
SELECT team_id, team_name, stop_reason, message, finished_at FROM team_endings WHERE execution_id = $execution

-- name: has_rounds
SELECT 1 FROM leader_board WHERE execution_id = $execution LIMIT 1

-- name: forget
DELETE FROM {table} WHERE execution_id = $execution

-- name: rename_execution
UPDATE {table} SET execution_id = $name WHERE execution_id = $execution
