"""The home of the viewer: what every run came to, and runs that get other names or go."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here, write_jsonl
from tests.unit.web.viewing import Answer, Client, judge_rows, look
from tests.waiting import patiently

from mixseek.storage.journal.lock import holding_lock
from mixseek.storage.workspace import Workspace


def rows_of(count: int, wrong: int = 3) -> tuple[dict[str, Any], ...]:
    """Every `wrong`th is wrong; five targets."""
    return tuple(
        {
            "id": f"row-{number}",
            "question": f"What is {number} + 1?",
            "response": f"So the answer is {number + (1 if number % wrong else 2)}.",
            "ground_truth": str(number + 1),
            "target_model": f"target-{number % 5}",
        }
        for number in range(count)
    )


def judge_as_panel(root: Path, run: str, rows: tuple[dict[str, Any], ...]) -> None:
    """The rules, and a recorded judge that finds everything right."""
    reply = '{"id": 1, "is_correct": true, "reasoning_score": 4, "error_type": "none", "comment": "Fine.", '
    replies = [{"id": row["id"], "reply": reply + f'"extracted_answer": "{row["ground_truth"]}"' + "}"} for row in rows]
    write_jsonl(root / f"{run}-kind.jsonl", replies)
    judge_rows(root, rows, run, "--judge", f"replay:{run}-kind.jsonl")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    judge_rows(tmp_path, rows_of(30), "march")
    judge_as_panel(tmp_path, "april", rows_of(30))
    judge_rows(tmp_path, rows_of(1, wrong=2), "lonely")
    return tmp_path / "ws"


def text_of(page: str) -> str:
    """What a reader sees of a page, in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.split("<main>")[1].split("</main>")[0]).split())


def row_of(page: str, run: str) -> str:
    """The line of a run."""
    line = page.split(f'<tr id="run-{run}"')[1].split("</tr>")[0].partition(">")[2]
    return text_of(f"<main>{line}</main>")


def test_every_run_has_a_headline_with_its_interval_or_says_why_not(workspace: Path) -> None:
    """A panel's, too; targets in small, and how many there are beyond them."""

    async def scenario(client: Client) -> None:
        page = (await client.ask("/")).text
        for run in ("march", "april"):
            report = (await client.wait(f"/api/runs/{run}")).json["headline"]
            mean, interval = report["mean_score"], report["interval"]
            expected = f"{mean * 100:.1f}% {interval['low'] * 100:.1f}–{interval['high'] * 100:.1f}%"
            assert row_of(page, run).startswith(f"{run} {run}.jsonl complete"), row_of(page, run)
            assert expected in row_of(page, run)
            assert "+2" in row_of(page, run)
            assert f"{report['targets'][0]['target']} {report['targets'][0]['mean_score'] * 100:.1f}%" in row_of(
                page, run
            )
        assert "no interval, because one observation has no spread" in row_of(page, "lonely")
        listed = {line["run"]: line for line in (await client.ask("/api/workspace")).json["runs"]}
        assert listed["april"]["mean_score"] is None
        assert listed["april"]["headline"]["mean_score"] == report["mean_score"]

    look(workspace, scenario)


def test_a_run_that_nobody_counted_is_counted_and_appears(workspace: Path) -> None:
    """As one is that an earlier version judged, or that came from elsewhere."""
    Workspace(workspace).run("april").headline.unlink()

    async def scenario(client: Client) -> None:
        assert "not counted yet" in row_of((await client.ask("/")).text, "april")
        async with patiently("the headline"):
            while "not counted yet" in row_of((await client.ask("/")).text, "april"):
                await asyncio.sleep(0.05)
        assert "100.0% 83.9–100.0% 10 split" in row_of((await client.ask("/")).text, "april")

    look(workspace, scenario)


def test_runs_over_one_dataset_are_a_trend_in_the_order_of_time(tmp_path: Path) -> None:
    """The same file under another name is the same dataset; another one is not."""
    for run in ("march", "april", "may"):
        judge_rows(tmp_path, rows_of(30), run)
    judge_rows(tmp_path, rows_of(40), "elsewhere")

    async def scenario(client: Client) -> None:
        page = (await client.ask("/")).text
        trend = page.split('<table class="trends">')[1].split("</table>")[0]
        assert re.findall(r'href="#(run-\w+)"', trend) == ["run-march", "run-april", "run-may"]
        assert re.findall(r">([\d.]+%)</a>", trend) == ["66.7%"] * 3
        assert trend.count('<circle class="series-point"') == 3
        assert "may be theirs" not in page

    look(tmp_path / "ws", scenario)


def test_a_trend_over_other_judges_says_that_a_difference_may_be_theirs(tmp_path: Path) -> None:
    judge_rows(tmp_path, rows_of(30), "march")
    judge_as_panel(tmp_path, "april", rows_of(30))

    async def scenario(client: Client) -> None:
        assert "a difference may be theirs" in (await client.ask("/")).text

    look(tmp_path / "ws", scenario)


def chosen(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="([ab])" value="([^"]+)"[^>]* checked', page))


def test_a_comparison_is_preset_to_the_newest_two_of_one_dataset(tmp_path: Path) -> None:
    judge_rows(tmp_path, rows_of(30), "march")
    judge_rows(tmp_path, rows_of(30), "april")
    judge_rows(tmp_path, rows_of(40), "elsewhere")

    async def scenario(client: Client) -> None:
        assert chosen((await client.ask("/")).text) == {"a": "march", "b": "april"}
        form = (await client.ask("/compare")).text
        assert re.findall(r'<option value="(\w+)" selected', form) == ["march", "april"]

    look(tmp_path / "ws", scenario)


async def change(client: Client, run: str, path: str, body: Mapping[str, str]) -> Answer:
    return await client.post(f"/api/runs/{run}/{path}", body)


def test_a_run_is_renamed_and_removed_as_by_the_command_line(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        moved = await change(client, "march", "name", {"new": "spring"})
        assert (moved.status, moved.json["new_name"], moved.json["schema"]) == (200, "spring", "mixseek.runs-mv/1")
        assert (await client.ask("/runs/march")).status == 404
        assert (await client.wait("/api/runs/spring")).json["run"] == "spring"
        assert "66.7%" in row_of((await client.ask("/")).text, "spring")
        removed = await change(client, "spring", "removal", {"run": "spring"})
        assert (removed.status, removed.json["removed"][0]["name"]) == (200, "spring")
        names = [line["run"] for line in (await client.ask("/api/workspace")).json["runs"]]
        assert names == ["lonely", "april"]

    look(workspace, scenario)


def said_by(command: str, *words: str, cwd: Path) -> str:
    """The sentence with which the command line refuses."""
    done = mixseek_here("runs", command, *words, "--workspace", "ws", cwd=cwd)
    assert done.returncode != 0
    return done.stderr.strip().removeprefix("mixseek: ")


def test_what_cannot_be_changed_is_refused_with_the_sentence_of_the_command_line(workspace: Path) -> None:
    """A name that another run has, one that is none, and a run that somebody is judging."""
    march = Workspace(workspace).run("march")

    async def scenario(client: Client) -> None:
        for new in ("april", "a/b", ""):
            expected = await asyncio.to_thread(said_by, "mv", "march", new, cwd=workspace.parent)
            refused = await change(client, "march", "name", {"new": new})
            assert (refused.status, refused.json["error"]) == (400, expected)
        with holding_lock(march.lock):
            for command, path, body in (("mv", "name", {"new": "spring"}), ("rm", "removal", {"run": "march"})):
                words = ("march", *body.values())[: 2 if command == "mv" else 1]
                expected = await asyncio.to_thread(said_by, command, *words, cwd=workspace.parent)
                busy = await change(client, "march", path, body)
                assert (busy.status, busy.json["error"].replace(str(workspace), "ws")) == (409, expected)
        for body in ({"run": "april"}, {}, {"run": "march", "more": "yes"}):
            assert (await change(client, "march", "removal", body)).status == 400
        assert (await change(client, "nobody", "removal", {"run": "nobody"})).status == 400

    look(workspace, scenario)

    assert march.exists()


def test_a_viewer_that_only_reads_offers_no_change(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        page = (await client.ask("/")).text
        assert "data-upkeep" not in page
        assert "<dialog" not in page
        assert (await change(client, "march", "removal", {"run": "march"})).status == 403

    look(workspace, scenario, is_read_only=True)

    assert Workspace(workspace).run("march").exists()


@pytest.mark.parametrize(("language", "words"), [("ja", ("総合結果", "推移")), ("zh", ("总结果", "历次运行"))])
def test_the_board_speaks_the_reader_s_language(workspace: Path, language: str, words: tuple[str, ...]) -> None:
    """Why a run has no interval, and the trend below, too."""
    judge_rows(workspace.parent, rows_of(30), "may")

    async def scenario(client: Client) -> None:
        page = text_of((await client.ask(f"/?lang={language}")).text)
        assert [word for word in words if word not in page] == []
        assert [word for word in ("Headline", "no interval", "oldest", "Rename") if word in page] == []

    look(workspace, scenario)
