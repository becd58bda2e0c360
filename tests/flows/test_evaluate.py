"""The evaluator without a race and a race from Python: the same scores, the same store, failures as values."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.flows.arena import Arena, arena, race_text
from tests.flows.live import KEYS
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

import mixseek
from mixseek.api.compete import make_request
from mixseek.api.options import check_options
from mixseek.domain.rounds import ExecutionStatus, StopReason
from mixseek.errors import AfterRoundError, ConfigurationError, PermanentJudgeError
from mixseek.evaluator.scores import MissingMetric
from mixseek.runs.requests.request import LiveOptions
from mixseek.settings.options import EvaluateOptions

QUERY = "Write something good."
TEXTS = {f"t{team}": f"Submission of t{team} in round 1 (asked 1 times)." for team in range(2)}
# As in the races of the arena.
EVALUATOR = """
[evaluator]
language = "en"
[[evaluator.metrics]]
type = "Coverage"
weight = 0.6
[[evaluator.metrics]]
type = "Relevance"
weight = 0.4
"""


@pytest.fixture
def with_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def scores_of_race(judge: Arena, place: Path) -> dict[str, float]:
    """What a race gives for the same texts."""
    (place / "race.toml").write_text(race_text(judge.spec, 2, rounds="min = 1\nmax = 1"))
    done = mixseek_here("compete", "race.toml", "-w", "race", "--json", cwd=place, env=KEYS)
    return {team["team_id"]: team["best_score"] for team in json.loads(done.stdout)["teams"]}


def test_submissions_get_the_scores_that_a_race_gives_them(tmp_path: Path, with_key: None) -> None:
    """From files, from a table with a column of its own, and from Python; replies are journaled and asked for once."""
    (tmp_path / "metrics.toml").write_text(EVALUATOR)
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.md").write_text(text)
    write_jsonl(tmp_path / "t.jsonl", [{"id": n, "question": QUERY, "output": t} for n, t in TEXTS.items()])
    with arena() as judge:
        expected = list(scores_of_race(judge, tmp_path).values())
        fixed = ("--evaluator", "metrics.toml", "--judge", judge.spec, "-w", "ws", "--json")
        words = ("evaluate", "t0.md", "t1.md", "--query", QUERY, *fixed)
        files = mixseek_here(*words, cwd=tmp_path, env=KEYS)
        asked = judge.requests
        again = mixseek_here(*words, "--no-cache", cwd=tmp_path, env=KEYS)
        table = mixseek_here("evaluate", "t.jsonl", "--map", "response=output", *fixed, cwd=tmp_path, env=KEYS)
        stdin = mixseek_here("evaluate", "-", "--query", QUERY, *fixed, cwd=tmp_path, env=KEYS, stdin=TEXTS["t0"])

        assert judge.requests == asked
        here = mixseek.evaluate(QUERY, TEXTS, evaluator=tmp_path / "metrics.toml", judge=judge.spec)
    document = json.loads(files.stdout)

    assert sorted(one["overall_score"] for one in document["submissions"]) == sorted(expected)
    assert document["weights"] == {"Coverage": 0.6, "Relevance": 0.4}
    assert (document["sent"]["calls"], json.loads(again.stdout)["sent"]["calls"]) == (4, 0)
    assert (tmp_path / document["journal"]).is_file()
    for done in (again, table):
        assert [one["overall_score"] for one in json.loads(done.stdout)["submissions"]] == here.scores
    assert json.loads(stdin.stdout)["submissions"][0]["overall_score"] == here[0].overall_score
    assert here.to_dicts()[0] == {"name": "t0", "overall_score": here[0].overall_score, **here[0].scores}
    assert here.journal is None
    assert '<th scope="row">t1</th>' in here._repr_html_()


def test_a_missing_metric_is_named_and_there_is_no_overall_score(tmp_path: Path, with_key: None) -> None:
    """Not a 0 and not an exception; the same call asks again where that may help, and a budget stops in words."""
    with arena() as judge:
        judge.refuses.add("metric")
        invalid = mixseek.evaluate(QUERY, TEXTS["t0"], judge=judge.spec, language="en")
        judge.refuses.clear()
        stopped = mixseek.evaluate(QUERY, TEXTS, judge=judge.spec, language="en", max_calls=3, concurrency=1)
        gate = ("evaluate", "--text", TEXTS["t0"], "--query", QUERY, "--judge", judge.spec, "--language", "en")
        failed = mixseek_here(*gate, "--fail-under", "99", cwd=tmp_path, env=KEYS)
        judge.statuses["metric"] = 401
        with pytest.raises(PermanentJudgeError, match="401"):
            mixseek.evaluate(QUERY, TEXTS["t1"], judge=judge.spec, language="en")
    metric = invalid[0].metrics["Coverage"]

    assert isinstance(metric, MissingMetric)
    assert "JUDGE_REFUSAL_OR_EVASION" in metric.reason
    assert (invalid.scores, invalid.is_open) == ([None], False)
    assert stopped.is_open
    assert stopped.reason is not None
    assert None in stopped.scores
    assert failed.returncode == 1
    assert "gate --fail-under not met: 1 of 1 scored lower" in failed.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a file, `-` for stdin, or --text TEXT"),
        (("--text", "a"), "submission 'text-1': no query that it answers"),
        (("--text", " ", "--query", "q", "--judge", "openai:x"), "submission 'text-1': is empty"),
        (("--text", "a", "--query", "q"), "no judge"),
        (("no.md", "--query", "q", "--judge", "openai:x"), "no.md"),
        (("--text", "a", "--query", "q", "--evaluator", "bad.toml"), "unknown key 'evaluator.metric'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """Exit 2, before anything is asked or written."""
    (tmp_path / "bad.toml").write_text("[evaluator]\nmetric = []\nmetrics = [{type = 'Coverage'}]")
    done = mixseek_here("evaluate", *words, "-w", "ws", cwd=tmp_path, env=KEYS)

    assert done.returncode == 2
    assert said in the_one_line(done)
    assert not (tmp_path / "ws" / "evaluations").exists()


def test_a_race_from_python_tells_each_round_and_is_the_commands_own(tmp_path: Path, with_key: None) -> None:
    """Inside a running loop as well; the command finds the same execution, and nobody is asked again."""
    told: list[mixseek.RoundRecord] = []
    with arena() as judge:
        path = tmp_path / "race.toml"
        path.write_text(race_text(judge.spec, 2, rounds="min = 1\nmax = 2"))

        async def handler() -> mixseek.Competition:
            return mixseek.compete(path, after_round=told.append, workspace=tmp_path / "ws", execution="e")

        played = asyncio.run(handler())
        asked = judge.requests
        again = mixseek_here("compete", "race.toml", "--execution", "e", "-w", "ws", "--json", cwd=tmp_path, env=KEYS)

        assert (again.returncode, judge.requests) == (0, asked)
    rows = played.to_dicts()

    assert sorted((one.team_id, one.round_number) for one in told) == [(f"t{t}", r) for t in range(2) for r in (1, 2)]
    assert {one.decision.stop_reason for one in told if one.round_number == 2} == {StopReason.MAX_ROUNDS}
    assert set(told[0].feedback) == {"Coverage", "Relevance"}
    assert max(one.score for one in told if one.score is not None) == played.best_score == rows[0]["best_score"]
    assert [row["rank"] for row in rows] == [1, 2]
    assert json.loads(again.stdout)["teams"] == json.loads(json.dumps(played.to_document()["teams"]))
    assert "Team 0" in played._repr_html_()
    assert played.report(tmp_path / "board.html").is_file()
    assert (played.status, played.is_open) == (ExecutionStatus.FINISHED, False)


def test_a_function_that_fails_after_a_round_stops_the_race_loudly_and_it_goes_on_later(
    tmp_path: Path, with_key: None
) -> None:
    """The round is stored, the cause is there, and the next call plays the rest; a race may be a dict."""
    import tomllib

    async def fail(record: mixseek.RoundRecord) -> None:
        raise ValueError(f"no place for round {record.round_number}")

    with arena() as judge:
        race = tomllib.loads(race_text(judge.spec, 1, rounds="min = 2\nmax = 2"))
        with pytest.raises(AfterRoundError, match=r"team t0, round 1.*ValueError: no place for round 1") as caught:
            asyncio.run(mixseek.acompete(race, after_round=fail, workspace=tmp_path))
        told: list[int] = []
        played = mixseek.compete(race, after_round=lambda one: told.append(one.round_number), workspace=tmp_path)

        assert judge.asked["team", "t0", 1] == 1
    assert isinstance(caught.value.__cause__, ValueError)
    assert told == [2]
    assert [len(team.rounds) for team in played.teams] == [2]


def test_a_race_that_cannot_work_is_refused_in_one_line(tmp_path: Path) -> None:
    """Also where it is no file."""
    with pytest.raises(ConfigurationError, match=r"race: '(teams|evaluator)' is missing"):
        mixseek.compete({"task": "x"}, workspace=tmp_path)


def test_an_option_that_is_none_is_left_out() -> None:
    """As in `judge`: whoever passes his own defaults on need not know ours."""
    nothing = dict.fromkeys(("concurrency", "max_calls", "patience", "cache", "workspace", "language"))
    given = check_options(nothing, EvaluateOptions, "evaluate")

    assert make_request("q", "text", given, Path("ws")).live == LiveOptions()


def test_an_endpoint_that_is_down_is_waited_for_as_long_as_one_says(with_key: None) -> None:
    """From Python nobody sees that it waits, so ten minutes must not be the only answer."""
    found = mixseek.evaluate(QUERY, "text", judge="openai:m@http://127.0.0.1:9/v1", patience=1)

    (one,) = found.submissions
    assert all(isinstance(metric, MissingMetric) for metric in one.result.metrics)
