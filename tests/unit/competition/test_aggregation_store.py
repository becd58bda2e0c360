"""What the store promises: nothing saved is lost, nothing is saved twice, nothing takes another's place."""

import asyncio
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pytest
from tests.unit.competition.competitions import EXECUTION, NOON, ON, begin, play, submit

from mixseek.competition.sessions import Patience, Worker
from mixseek.competition.store import AggregationStore
from mixseek.competition.tables import MIGRATIONS, migrate, read_version
from mixseek.domain.rounds import (
    DecidedBy,
    Execution,
    ExecutionStatus,
    ExecutionStore,
    ImprovementJudgment,
    LeaderBoardReader,
    NoOpinion,
    Opinion,
    RoundDecision,
    RoundKey,
    RoundProgress,
    StopReason,
)
from mixseek.errors import ConfigurationError, StorageError

STOP = RoundDecision(continues=False, stop_reason=StopReason.MAX_ROUNDS, decided_by=DecidedBy.CONTROLLER)
TOKYO = timezone(timedelta(hours=9))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AggregationStore]:
    """A store in which the execution has begun."""
    opened = AggregationStore(tmp_path / "ws")
    asyncio.run(begin(opened))
    yield opened
    opened.close()


def rounds_of(store: AggregationStore, team: str = "a") -> tuple[RoundProgress, ...]:
    return asyncio.run(store.progress(EXECUTION))[team].rounds


def test_it_is_the_port_that_the_layers_below_know(store: AggregationStore) -> None:
    """Checked by mypy through the annotation, and at run time for the prompt contexts."""
    port: ExecutionStore = store

    assert isinstance(port, LeaderBoardReader)


def test_a_round_comes_back_as_it_was_saved(store: AggregationStore) -> None:
    """Texts of any script, usage, score, details, opinion and decision; every time in UTC."""
    text = "提出\n# 見出し 🎌\x00\r\n'; DROP TABLE leader_board; --"

    async def save() -> None:
        await store.save_submission(
            RoundKey(EXECUTION, "a", 1), "チーム", text, {"cost_usd": 0.25}, NOON.astimezone(TOKYO)
        )
        await store.save_evaluation(RoundKey(EXECUTION, "a", 1), 61.5, {"明瞭": {"score": 1, "comment": "良"}}, NOON)
        await store.save_decision(RoundKey(EXECUTION, "a", 1), ImprovementJudgment(True, "まだ", 0.75), STOP, NOON)
        await store.finish_team(EXECUTION, "a", StopReason.MAX_ROUNDS, "", NOON)

    asyncio.run(save())
    team = asyncio.run(store.progress(EXECUTION))["a"]

    assert team.rounds == (
        RoundProgress(
            1,
            text,
            {"cost_usd": 0.25},
            NOON,
            61.5,
            {"明瞭": {"score": 1, "comment": "良"}},
            NOON,
            ImprovementJudgment(True, "まだ", 0.75),
            STOP,
            NOON,
        ),
    )
    assert (team.team_name, team.stop_reason, team.finished_at) == ("チーム", StopReason.MAX_ROUNDS, NOON)
    assert team.rounds[0].submitted_at.tzinfo is UTC


@pytest.mark.parametrize("opinion", [None, NoOpinion("503 from the endpoint"), ImprovementJudgment(False, "", 0.0)])
@pytest.mark.parametrize("decision", [ON, STOP])
def test_the_decision_stands_beside_the_opinion(
    store: AggregationStore, opinion: Opinion | None, decision: RoundDecision
) -> None:
    """Every pair, also those that disagree; nobody asked, nobody answered and a low confidence stay three things."""

    async def save() -> None:
        await play(store, "a", 1, 10.0)
        await store.save_decision(RoundKey(EXECUTION, "a", 1), opinion, decision, NOON)

    asyncio.run(save())

    assert [(entry.opinion, entry.decision) for entry in rounds_of(store)] == [(opinion, decision)]


def test_saving_the_same_again_changes_nothing(store: AggregationStore) -> None:
    """A resumed execution may repeat its last step; the first times are kept."""
    later = NOON + timedelta(hours=1)

    async def repeat() -> None:
        await play(store, "a", 1, 50.0)
        before = await store.progress(EXECUTION)
        await store.begin_execution(EXECUTION, "the task", {"rounds": {"max": 5}}, later)
        await store.save_submission(RoundKey(EXECUTION, "a", 1), "A", "a 1", {"input_tokens": 9}, later)
        await store.save_evaluation(RoundKey(EXECUTION, "a", 1), 50.0, {"clarity": 50.0}, later)
        assert await store.progress(EXECUTION) == before
        assert [execution.started_at for execution in await store.executions()] == [NOON]

    asyncio.run(repeat())


def test_another_submission_does_not_take_the_place_of_the_first(store: AggregationStore) -> None:
    """Evaluated or not: what a team was paid to write is kept."""
    asyncio.run(submit(store, "a", 1, "first"))

    with pytest.raises(StorageError, match="round 1 of team 'a' holds another submission"):
        asyncio.run(submit(store, "a", 1, "second"))
    assert [entry.submission for entry in rounds_of(store)] == ["first"]


def test_a_round_is_evaluated_once(store: AggregationStore) -> None:
    """Another score, or the same with other details, is refused; and so is taking the score away."""
    asyncio.run(play(store, "a", 1, 50.0))

    for score, details in ((51.0, {"clarity": 50.0}), (50.0, {"clarity": 49.0}), (None, {"clarity": 50.0})):
        with pytest.raises(StorageError, match="has been evaluated already"):
            asyncio.run(store.save_evaluation(RoundKey(EXECUTION, "a", 1), score, details, NOON))
    assert rounds_of(store)[0].score == 50.0


def test_an_evaluation_that_failed_may_be_tried_again(store: AggregationStore) -> None:
    """None is not 0: the team has no place until there is a score."""

    async def retry() -> None:
        await submit(store, "a", 1)
        await store.save_evaluation(RoundKey(EXECUTION, "a", 1), None, {"missing": "503"}, NOON)
        assert await store.ranking(EXECUTION) == ()
        failed = (await store.progress(EXECUTION))["a"].rounds[0]
        assert (failed.score, failed.details, failed.evaluated_at) == (None, {"missing": "503"}, NOON)
        await store.save_evaluation(RoundKey(EXECUTION, "a", 1), 70.0, {}, NOON)
        assert [team.best_score for team in await store.ranking(EXECUTION)] == [70.0]

    asyncio.run(retry())


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, -1.0, 100.5])
def test_what_is_not_a_score_is_refused_twice(store: AggregationStore, score: float) -> None:
    """By us, and by the table for whoever writes past us."""
    asyncio.run(submit(store, "a", 1))

    with pytest.raises(ValueError, match="score must be"):
        asyncio.run(store.save_evaluation(RoundKey(EXECUTION, "a", 1), score, {}, NOON))
    store.close()
    with duckdb.connect(str(store.path)) as connection, pytest.raises(duckdb.ConstraintException):
        connection.execute("UPDATE leader_board SET score = $score, evaluated_at = now()::TIMESTAMP", {"score": score})


def test_nan_in_details_is_refused(store: AggregationStore) -> None:
    """JSON has no word for it, and a reader would meet it much later."""
    asyncio.run(submit(store, "a", 1))

    with pytest.raises(ValueError, match="JSON"):
        asyncio.run(store.save_evaluation(RoundKey(EXECUTION, "a", 1), 1.0, {"clarity": math.nan}, NOON))


def test_the_order_of_steps_is_kept(store: AggregationStore) -> None:
    """Submitted before evaluated, evaluated before judged, begun before anything."""
    with pytest.raises(StorageError, match="round 1 of team 'a' holds no submission"):
        asyncio.run(store.save_evaluation(RoundKey(EXECUTION, "a", 1), 1.0, {}, NOON))
    asyncio.run(submit(store, "a", 1))
    with pytest.raises(StorageError, match="round 1 of team 'a' has not been evaluated"):
        asyncio.run(store.save_decision(RoundKey(EXECUTION, "a", 1), None, ON, NOON))
    for call in (
        store.save_submission(RoundKey("other", "a", 1), "A", "x", {}, NOON),
        store.finish_team("other", "a", StopReason.TEAM_FAILED, "", NOON),
        store.finish_execution("other", ExecutionStatus.FINISHED, NOON),
    ):
        with pytest.raises(StorageError, match="execution 'other' has not begun"):
            asyncio.run(call)


def test_times_without_a_zone_are_refused(store: AggregationStore) -> None:
    """They would be read as UTC, whatever they meant."""
    with pytest.raises(ValueError, match="no time zone"):
        asyncio.run(store.save_submission(RoundKey(EXECUTION, "a", 1), "A", "x", {}, datetime(2026, 3, 1)))


def test_an_id_stands_for_one_configuration(store: AggregationStore) -> None:
    """Order of keys does not matter; the message names what is different."""
    asyncio.run(store.begin_execution("e2", "t", {"a": 1, "b": {"c": 2, "d": 3}}, NOON))
    asyncio.run(store.begin_execution("e2", "t", {"b": {"d": 3, "c": 2}, "a": 1}, NOON))

    with pytest.raises(ConfigurationError, match=r"'e2' was begun with another configuration \(different: b\)"):
        asyncio.run(store.begin_execution("e2", "t", {"a": 1, "b": {"c": 2, "d": 4}}, NOON))
    with pytest.raises(ConfigurationError, match=r"different: the task, a\)"):
        asyncio.run(store.begin_execution("e2", "other", {"b": {"c": 2, "d": 3}}, NOON))


def test_an_execution_that_did_not_finish_runs_again_and_a_finished_one_stays(store: AggregationStore) -> None:
    """Every status, before and after beginning again."""

    async def statuses() -> dict[ExecutionStatus, Execution]:
        found = {}
        for status in ExecutionStatus:
            await store.finish_execution(EXECUTION, status, NOON)
            await begin(store)
            found[status] = (await store.executions())[0]
        return found

    found = asyncio.run(statuses())

    assert {status: execution.status for status, execution in found.items()} == {
        ExecutionStatus.RUNNING: ExecutionStatus.RUNNING,
        ExecutionStatus.FINISHED: ExecutionStatus.FINISHED,
        ExecutionStatus.INTERRUPTED: ExecutionStatus.RUNNING,
        ExecutionStatus.FAILED: ExecutionStatus.RUNNING,
    }
    assert found[ExecutionStatus.INTERRUPTED].ended_at is None
    assert found[ExecutionStatus.FINISHED].ended_at == NOON


def test_executions_come_with_the_latest_first(store: AggregationStore) -> None:
    """Each with its task and configuration."""
    asyncio.run(store.begin_execution("later", "t", {}, NOON + timedelta(minutes=1)))
    asyncio.run(store.begin_execution("earlier", "t", {}, NOON - timedelta(minutes=1)))

    executions = asyncio.run(store.executions())
    assert [execution.execution_id for execution in executions] == ["later", EXECUTION, "earlier"]
    assert (executions[1].task, executions[1].configuration) == ("the task", {"rounds": {"max": 5}})


def test_a_renamed_team_is_one_team_with_its_latest_name(store: AggregationStore) -> None:
    """On the board and in every round."""

    async def rename() -> None:
        await play(store, "a", 1, 90.0)
        await submit(store, "a", 2, name="New")

    asyncio.run(rename())

    assert [(team.team_name, team.best_round, team.rounds) for team in asyncio.run(store.ranking(EXECUTION))] == [
        ("New", 1, 2)
    ]
    assert asyncio.run(store.progress(EXECUTION))["a"].team_name == "New"


def test_a_team_that_never_submitted_is_not_forgotten(store: AggregationStore) -> None:
    """It has a name, if one was given, a reason and no rounds; the last word on it holds."""

    async def fail() -> None:
        await store.finish_team(EXECUTION, "a", StopReason.INTERRUPTED, "", NOON, team_name="Alpha")
        await store.finish_team(EXECUTION, "a", StopReason.TEAM_FAILED, "exit code 1", NOON)
        await store.finish_team(EXECUTION, "b", StopReason.TEAM_TIMEOUT, "60 s", NOON)

    asyncio.run(fail())
    teams = asyncio.run(store.progress(EXECUTION))

    assert [(team.team_name, team.rounds, team.stop_reason, team.message) for team in teams.values()] == [
        ("Alpha", (), StopReason.TEAM_FAILED, "exit code 1"),
        ("b", (), StopReason.TEAM_TIMEOUT, "60 s"),
    ]


def test_executions_do_not_see_each_other(store: AggregationStore) -> None:
    """The same team may play in two."""
    asyncio.run(store.begin_execution("second", "t", {}, NOON))
    asyncio.run(play(store, "a", 1, 50.0))

    assert asyncio.run(store.progress("second")) == {}
    assert asyncio.run(store.ranking("second")) == ()


def test_half_a_character_does_not_lose_a_submission(store: AggregationStore) -> None:
    """It is stored with a replacement, and saving it again is still the same."""
    asyncio.run(submit(store, "a", 1, "x\ud800y"))
    asyncio.run(submit(store, "a", 1, "x\ud800y"))

    assert [entry.submission for entry in rounds_of(store)] == ["x\ufffdy"]


def test_a_reader_makes_no_file_and_changes_none(tmp_path: Path) -> None:
    """Nothing there is nothing found, not a failure; writing through it is one."""
    reader = AggregationStore(tmp_path / "nowhere", read_only=True)

    assert asyncio.run(reader.executions()) == []
    assert asyncio.run(reader.progress("x")) == {}
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(StorageError):
        asyncio.run(reader.begin_execution("x", "t", {}, NOON))
    assert not (tmp_path / "nowhere").exists()
    reader.close()


def test_a_file_without_tables_holds_nothing(tmp_path: Path) -> None:
    """What a process leaves that was killed while it made the file."""
    duckdb.connect(str(tmp_path / "competitions.duckdb")).close()
    reader = AggregationStore(tmp_path, read_only=True)

    assert asyncio.run(reader.executions()) == []
    reader.close()


def test_migrations_run_once_each_and_keep_what_is_there(tmp_path: Path) -> None:
    """The next version adds a column; the rows of this one stay."""
    path = tmp_path / "competitions.duckdb"
    following = (*MIGRATIONS, "ALTER TABLE executions ADD COLUMN note VARCHAR DEFAULT 'none'")
    with duckdb.connect(str(path)) as connection:
        migrate(connection, path)
        migrate(connection, path)
        assert read_version(connection) == len(MIGRATIONS)
        connection.execute("INSERT INTO executions VALUES ('e', 't', '{}', 'running', '2026-03-01', NULL)")
        migrate(connection, path, following)
        assert read_version(connection) == len(following)
        assert connection.execute("SELECT execution_id, note FROM executions").fetchall() == [("e", "none")]


def test_a_migration_that_fails_leaves_the_file_at_the_version_before(tmp_path: Path) -> None:
    """All of one migration, or nothing of it."""
    path = tmp_path / "competitions.duckdb"
    broken = (*MIGRATIONS, "CREATE TABLE half (a INTEGER); CREATE TABLE executions (a INTEGER)")
    with duckdb.connect(str(path)) as connection, pytest.raises(duckdb.Error):
        migrate(connection, path, broken)
    with duckdb.connect(str(path)) as connection:
        assert read_version(connection) == len(MIGRATIONS)
        assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'half'").fetchone() == (0,)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path, read_only: bool) -> None:
    """Said in one line with what to do."""
    path = tmp_path / "competitions.duckdb"
    with duckdb.connect(str(path)) as connection:
        migrate(connection, path, (*MIGRATIONS, "SELECT 1"))
    later = AggregationStore(tmp_path, read_only=read_only)

    with pytest.raises(StorageError, match=r"written by a later mixseek .* update mixseek"):
        asyncio.run(later.executions())
    later.close()


def test_a_damaged_file_is_named_and_kept(tmp_path: Path) -> None:
    """It is the truth, so it is never thrown away as the index is."""
    (tmp_path / "competitions.duckdb").write_bytes(b"not a database" * 1000)
    damaged = AggregationStore(tmp_path)

    with pytest.raises(StorageError, match=r"competitions.duckdb: .*"):
        asyncio.run(damaged.executions())
    assert (tmp_path / "competitions.duckdb").read_bytes().startswith(b"not a database")
    damaged.close()


def test_a_failure_of_one_caller_is_not_one_of_the_others(store: AggregationStore) -> None:
    """Saved in one batch: the refused one is refused, the rest is stored."""

    async def together() -> list[BaseException | None]:
        await submit(store, "a", 1, "first")
        saving = [submit(store, "b", 1), submit(store, "a", 1, "second"), submit(store, "c", 1)]
        return await asyncio.gather(*saving, return_exceptions=True)

    results = asyncio.run(together())

    assert [type(result) for result in results] == [type(None), StorageError, type(None)]
    assert sorted(asyncio.run(store.progress(EXECUTION))) == ["a", "b", "c"]


def test_a_caller_that_stops_waiting_does_not_stop_the_writing(store: AggregationStore) -> None:
    """A team's time may run out just while its submission is being stored."""

    async def cancel() -> None:
        saving = asyncio.ensure_future(submit(store, "a", 1))
        await asyncio.sleep(0)
        saving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saving
        await store.executions()

    asyncio.run(cancel())

    assert [entry.submission for entry in rounds_of(store)] == ["a 1"]


def test_nobody_is_left_waiting_by_a_fault_of_ours(store: AggregationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by one that nobody foresaw; and the next request is served again."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("mixseek.competition.sessions.opened", fail)
        with pytest.raises(ZeroDivisionError):
            asyncio.run(asyncio.wait_for(submit(store, "a", 1), timeout=45))
    asyncio.run(submit(store, "a", 1))

    assert len(rounds_of(store)) == 1


@pytest.mark.parametrize(
    ("failure", "told"), [("FROM nowhere", StorageError), ("SELECT 1", ZeroDivisionError)], ids=["DuckDB's", "ours"]
)
def test_what_fails_midway_is_undone_and_the_next_goes_on(failure: str, told: type[Exception], tmp_path: Path) -> None:
    """Each operation has the file for itself; between two of them anybody else may open it."""
    path = tmp_path / "it's here" / "competitions.duckdb"
    worker = Worker(path, read_only=False, patience=Patience(1))

    def fail(connection: duckdb.DuckDBPyConnection) -> float:
        connection.execute("INSERT INTO executions VALUES ('x', '', '{}', 'running', now()::TIMESTAMP, NULL)")
        connection.execute(failure)
        return 1 / 0

    with pytest.raises(told):
        asyncio.run(worker.run(fail))
    with duckdb.connect(str(path)) as other:
        assert other.execute("SELECT count(*) FROM executions").fetchone() == (0,)
    count = asyncio.run(worker.run(lambda opened: opened.execute("SELECT count(*) FROM executions").fetchone()))
    worker.close()

    assert count == (0,)
