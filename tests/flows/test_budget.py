"""`--budget`: pairs chosen in rounds, the same whatever interrupts them; and the leader board of such a run."""

import json
from pathlib import Path
from typing import Any

from tests.flows.live import begin, counts_of, judge, wait_until
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

from mixseek.testing.mock_server import MockOptions

TARGETS = ("alpha", "beta", "gamma", "delta")
QUESTIONS = 12
BUDGET = 40
PAIRWISE = ("--protocol", "pairwise", "--pairs", "all", "--seed", "5", "--budget")


def outputs() -> list[dict[str, Any]]:
    return [
        {
            "id": f"{number}-{target}",
            "question_id": f"q{number}",
            "question": f"Question {number}?",
            "response": f"{target} says {number}." + " Really." * (place * number % 7),
            "target_model": target,
        }
        for number in range(QUESTIONS)
        for place, target in enumerate(TARGETS)
    ]


def rounds(root: Path, workspace: str, run: str = "r") -> list[list[str]]:
    found: list[list[str]] = json.loads((root / workspace / "runs" / run / "rounds.json").read_text())
    return found


def test_rounds_are_the_same_after_a_kill_and_a_limit(tmp_path: Path) -> None:
    """40 of 72 pairs; a larger budget begins with the same ones, and pays for the others only."""
    data = write_jsonl(tmp_path / "outputs.jsonl", outputs())
    with loopback(MockOptions(log=tmp_path / "requests.log")) as endpoint:
        calm = judge(data, endpoint.spec, *PAIRWISE, str(BUDGET), cwd=tmp_path, workspace="calm")
        before = endpoint.requests
        words = ("judge", str(data), "--judge", endpoint.spec, *PAIRWISE, str(BUDGET), "--workspace", "ws")
        # In the second round.
        endpoint.hold(after=35)
        process = begin(*words, "--run", "r", "--concurrency", "2", "--no-cache", cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests >= before + 36, process), process.communicate()
        process.kill()
        process.communicate()
        endpoint.release()
        begun = rounds(tmp_path, "ws")
        limited = judge(data, endpoint.spec, *PAIRWISE, str(BUDGET), "--no-cache", "--max-calls", "9", cwd=tmp_path)
        resumed = judge(data, endpoint.spec, *PAIRWISE, str(BUDGET), "--no-cache", cwd=tmp_path)
        before = endpoint.requests
        more = judge(data, endpoint.spec, *PAIRWISE, "72", "--run", "more", cwd=tmp_path, workspace="calm")

        assert endpoint.requests - before == 2 * (72 - BUDGET)
    assert (calm.returncode, limited.returncode, resumed.returncode, more.returncode) == (0, 4, 0, 0), resumed.stderr
    assert counts_of(resumed) == counts_of(calm) == {"valid": BUDGET, "invalid": 0, "undecided": 0, "missing": 0}
    chosen = rounds(tmp_path, "calm")
    assert [len(one) for one in chosen] == [16, 16, 8]
    assert rounds(tmp_path, "ws") == chosen
    assert begun == chosen[: len(begun)]
    assert rounds(tmp_path, "calm", "more")[:2] == chosen[:2]

    # A file of the same name does not stand before the run.
    (tmp_path / "r").write_text("notes", encoding="utf-8")
    board = json.loads(mixseek_here("leaderboard", "r", "-w", "ws", "--json", cwd=tmp_path).stdout)
    assert (board["comparisons"], board["systems"]) == (BUDGET, sorted(TARGETS))
    assert board["state"] == "estimated"
    assert board["controlled"]["state"] == "estimated"
    votes = json.loads(mixseek_here("stats", "r", "-w", "ws", "--votes", "--json", cwd=tmp_path).stdout)["votes"]
    assert [one["both_orders"]["consistency"]["value"] for one in votes] == [1.0]
    page = tmp_path / "r.html"
    assert mixseek_here("report", "r", "-w", "ws", "--to", page, cwd=tmp_path).returncode == 0
    assert '<section id="board"' in (shown := page.read_text(encoding="utf-8"))
    assert ">Strengths by Bradley and Terry" in shown  # a sentence, on a page
    planned = mixseek_here(*words, "--dry-run", cwd=tmp_path)
    assert f"{BUDGET} of {BUDGET} samples to be judged" in planned.stdout, planned.stderr

    other = mixseek_here(*words[:-2], "--workspace", "ws", "--run", "r", "--seed", "6", cwd=tmp_path)
    assert "another choice of pairs" in the_one_line(other)


def test_a_budget_needs_pairs_and_who_wrote_them(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "one.jsonl", outputs())
    write_jsonl(tmp_path / "nobody.jsonl", [{"id": "1", "question": "?", "response_a": "x", "response_b": "y"}])
    write_jsonl(tmp_path / "replies.jsonl", [{"id": "1", "order": "AB", "reply": "[[A]]"}])
    replay = ("--judge", "replay:replies.jsonl", "--protocol", "pairwise", "--budget", "1")
    for words, told in (
        (("one.jsonl", "--judge", "rules", "--budget", "3"), "judges one response at a time"),
        (("nobody.jsonl", *replay), "does not say who wrote its two responses"),
        (("nobody.jsonl", *replay, "--limit", "1"), "leave --limit out"),
    ):
        done = mixseek_here("judge", *words, "-w", "ws", cwd=tmp_path)

        assert done.returncode == 2
        assert told in the_one_line(done)
