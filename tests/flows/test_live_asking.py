"""Who is asked, how often, and when not at all: cascades, panels, repeats, budgets, dry runs and the cache."""

import json
from pathlib import Path

import pytest
from tests.flows.live import KEYS, counts_of, export, journal_lines, judge, read_log, riddles, verdicts
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek_here, read_jsonl, sums, write_jsonl

from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

SAMPLES = 60


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))


def mixed(path: Path) -> Path:
    """Sums that rules decide, and statements that they decline."""
    easy = [row for row in sums(40) if row["ground_truth"] is not None]
    hard = [{**row, "response": "It could be 5, or perhaps 7.", "ground_truth": "5"} for row in riddles(20)]
    return write_jsonl(path, easy + hard)


def test_a_cascade_asks_the_endpoint_only_for_what_rules_leave_open(tmp_path: Path) -> None:
    """And says who decided."""
    data = mixed(tmp_path / "data.jsonl")
    alone = mixseek_here(
        "judge", data, "--judge", "rules", "--workspace", "rules", "--run", "r", "--json", cwd=tmp_path
    )
    open_ids = {row["id"] for row in export(tmp_path, "rules") if row["status"] == "undecided"}
    with loopback() as endpoint:
        done = judge(data, "rules", "--judge", endpoint.spec, "--cascade", cwd=tmp_path)
        asked = endpoint.requests
    deciders = {row["id"]: row["judge"] for row in export(tmp_path) if row["status"] == "valid"}

    assert alone.returncode == done.returncode == 0, done.stderr
    assert 0 < len(open_ids) < len(deciders)
    assert asked == len(open_ids)
    assert {sample for sample, name in deciders.items() if name != "rules"} == open_ids
    assert counts_of(done)["valid"] == len(deciders)


def test_a_panel_asks_every_judge_about_every_sample(data: Path, tmp_path: Path) -> None:
    """One row for each judge; each has its own mind."""
    with loopback(MockOptions(log=tmp_path / "requests.log")) as endpoint:
        second = endpoint.spec.replace("openai:mock@", "openai:other@")
        done = judge(data, endpoint.spec, "--judge", second, cwd=tmp_path)
    summary = json.loads(done.stdout)
    rows = export(tmp_path)
    models = [exchange.model for exchange in read_log(tmp_path / "requests.log")]

    assert done.returncode == 0, done.stderr
    assert models.count("mock") == models.count("other") == SAMPLES
    assert len(rows) == 2 * SAMPLES
    assert set(summary["per_judge"]) == {endpoint.spec, second}
    by_judge = {name: [row["is_correct"] for row in rows if row["judge"] == name] for name in (endpoint.spec, second)}
    assert by_judge[endpoint.spec] != by_judge[second]


def test_repeats_are_requests_of_their_own(data: Path, tmp_path: Path) -> None:
    """Three takes of each sample, told apart in the journal; a second run asks for none of them."""
    with loopback() as endpoint:
        done = judge(data, endpoint.spec, "--repeats", "3", cwd=tmp_path)
        stats = endpoint.stats()
        again = judge(data, endpoint.spec, "--repeats", "3", cwd=tmp_path)
    takes = [(line["key"], line["details"]["take"]) for line in journal_lines(tmp_path, "reply")]

    assert done.returncode == again.returncode == 0, done.stderr
    assert stats["seen"] == {"3": SAMPLES}
    assert endpoint.requests == 3 * SAMPLES
    assert len(takes) == len(set(takes)) == 3 * SAMPLES


def test_max_calls_stops_there_and_goes_on_with_more(data: Path, tmp_path: Path) -> None:
    """Exit 4, a line that names the limit, and nothing is asked twice."""
    with loopback() as endpoint:
        stopped = judge(data, endpoint.spec, "--max-calls", "25", "--quiet", cwd=tmp_path)
        asked = endpoint.requests
        done = judge(data, endpoint.spec, cwd=tmp_path)

    assert asked == 25
    assert stopped.returncode == 4
    assert "--max-calls 25" in stopped.stderr
    assert done.returncode == 0, done.stderr
    assert endpoint.requests == SAMPLES


def test_a_dry_run_sends_nothing_and_says_what_it_would(data: Path, tmp_path: Path) -> None:
    """Calls, tokens, cost."""
    with loopback() as endpoint:
        done = judge(data, endpoint.spec, "--dry-run", cwd=tmp_path)
        asked = endpoint.requests

    assert done.returncode == 0, done.stderr
    assert asked == 0
    assert str(SAMPLES) in done.stdout
    assert not (tmp_path / "ws" / "runs" / "r" / "journal.jsonl").exists()


def other_run(data: Path, endpoint: Loopback, name: str, *more: str, cwd: Path) -> dict[str, int]:
    arguments = ("judge", str(data), "--judge", endpoint.spec, "--workspace", "ws", "--run", name, "--json")
    done = mixseek_here(*arguments, *more, cwd=cwd, env=KEYS)
    assert done.returncode == 0, done.stderr
    return counts_of(done)


def test_another_run_is_answered_from_the_cache_unless_it_must_not_be(data: Path, tmp_path: Path) -> None:
    """Replies belong to the workspace, not to a run."""
    with loopback() as endpoint:
        first = other_run(data, endpoint, "first", cwd=tmp_path)
        cached = other_run(data, endpoint, "cached", cwd=tmp_path)
        sent = endpoint.requests
        fresh = other_run(data, endpoint, "fresh", "--no-cache", cwd=tmp_path)

    assert first == cached == fresh == {"valid": SAMPLES, "invalid": 0, "undecided": 0, "missing": 0}
    assert sent == SAMPLES
    assert endpoint.requests == 2 * SAMPLES


@pytest.mark.parametrize("max_reasks", ["0", "1"])
def test_what_the_cache_settles_is_what_was_judged(data: Path, max_reasks: str, tmp_path: Path) -> None:
    """Row for row, invalid replies and re-asks included; parsed once, and written down twice."""
    faults = (Fault.PROSE, Fault.FENCED, Fault.TRUNCATED, Fault.WRONG_SCHEMA, Fault.REFUSAL, Fault.INCONSISTENT)
    with loopback(MockOptions(fault_rate=0.5, faults=faults)) as endpoint:
        more = ("--max-reasks", max_reasks)
        counts = [other_run(data, endpoint, name, *more, cwd=tmp_path) for name in ("first", "cached")]
        sent = endpoint.requests
    rows = {}
    for name in ("first", "cached"):
        target = tmp_path / f"{name}.jsonl"
        assert mixseek_here("export", name, "--workspace", "ws", "--to", target, cwd=tmp_path).returncode == 0
        rows[name] = verdicts(read_jsonl(target))
    journal = read_jsonl(tmp_path / "ws" / "runs" / "cached" / "journal.jsonl")
    replies = [line for line in journal if line["t"] == "reply"]

    assert counts[0] == counts[1]
    assert 0 < counts[0]["invalid"] < SAMPLES
    assert rows["first"] == rows["cached"]
    assert len(replies) == sent
    assert all(line["details"]["cached"] and line["details"]["tries"] == 0 for line in replies)


def english_outputs(targets: tuple[str, ...]) -> list[dict[str, str]]:
    """For cross, in English."""
    return [
        {
            "id": f"{number}-{target}",
            "question": "Describe the harbour in three sentences and give one warning.",
            "response": f"The pier is {number + 40} metres long. Ferries leave at noon. The steps are wet.",
            "question_id": f"Q{number}",
            "prompt_variant": "A",
            "target_model": target,
        }
        for number in range(4)
        for target in targets
    ]


@pytest.mark.parametrize("protocol", ["cross", "rubric"])
def test_prompts_in_another_language_than_the_data_are_said_once(protocol: str, tmp_path: Path) -> None:
    """On stderr and in the summary; whoever chooses a language has chosen."""
    rubric = "task_type: fact\n\n## Criteria\n- Says how long the pier is.\n"
    rows = [{**row, "task_name": "pier", "rubric": rubric} for row in english_outputs(("model-a",))]
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    with loopback() as endpoint:
        silent = judge(data, endpoint.spec, "--protocol", protocol, cwd=tmp_path)
        more = ("--protocol", protocol, "--language", "en")
        chosen = judge(data, endpoint.spec, *more, cwd=tmp_path, workspace="chosen")
    notices = json.loads(silent.stdout)["notices"]

    assert len(notices) == 1
    assert "the data look English" in notices[0]
    assert "--language en" in notices[0]
    assert silent.stderr.count("the data look English") == 1
    assert json.loads(chosen.stdout)["notices"] == []
    assert "the data look" not in chosen.stderr


def test_a_table_in_the_settings_does_not_change_who_the_judge_is(tmp_path: Path) -> None:
    """A model that judges its own output by way of [judges.house] is a self-judge, as it would be by its own name."""
    data = write_jsonl(tmp_path / "data.jsonl", english_outputs(("mock", "other-model")))
    with loopback() as endpoint:
        base_url = endpoint.spec.partition("@")[2]
        (tmp_path / "mixseek.toml").write_text(
            f'[judges.house]\nbase_url = "{base_url}"\nmodel = "mock"\n', encoding="utf-8"
        )
        done = judge(data, "house", "--protocol", "cross", "--language", "en", cwd=tmp_path)
    summary = json.loads(done.stdout)

    assert done.returncode == 0, done.stderr
    assert summary["control"] is not None
    assert sum(summary["control"]["counts"].values()) == sum(summary["counts"].values()) == 4
