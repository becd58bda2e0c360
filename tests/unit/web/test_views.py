"""What the viewer answers: pages of judgments, samples, runs as they grow, and workspaces that hold nothing."""

import asyncio
import json
import re
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import COMMAND, environment
from tests.flows.warm import hearing
from tests.unit.web.viewing import Client, judge_rows, look
from tests.waiting import PATIENCE_SECONDS, patiently

from mixseek.analysis.votes.system_board import Board
from mixseek.comparison import compare
from mixseek.domain.panels import PanelRule
from mixseek.index import listing
from mixseek.reports.labels import estimator_text
from mixseek.reports.ratings.boards import board_sentences
from mixseek.reports.wording import scores
from mixseek.reports.wording.scores import level_text
from mixseek.stats.estimates import SENTENCES, Estimator
from mixseek.stats.intervals import Interval, IntervalMethod
from mixseek.stats.strengths.fit import fit_strengths
from mixseek.stats.strengths.model import Comparison
from mixseek.stats.strengths.order import order_agreement
from mixseek.storage.workspace import Workspace
from mixseek.text.messages import Message
from mixseek.web import pages, slow_work, viewer
from mixseek.web.languages import say_in

REPLIES = (
    '{"id": "tea-1", "reply": "{\\"is_correct\\": true}"}\n'
    '{"id": "tea-2", "reply": "no JSON at all"}\n'
)  # fmt: skip


_TEA = (
    {"id": "tea-1", "question": "2+2?", "response": "So the answer is 4.", "ground_truth": "4"},
    {"id": "tea-2", "question": "3+3?", "response": "So the answer is 7.", "ground_truth": "6",
     "metadata": {"cup": "blue"}},
)  # fmt: skip


def rows_of(count: int) -> tuple[dict[str, Any], ...]:
    """Every third is wrong; metadata tells even from odd."""
    return tuple(
        {
            "id": f"row-{number}",
            "question": f"What is {number} + 1?",
            "response": f"So the answer is {number + (1 if number % 3 else 2)}.",
            "ground_truth": str(number + 1),
            "target_model": ("aster", "cedar")[number % 2],
            "question_id": f"Q{number // 2}",
            "metadata": {"parity": ("even", "odd")[number % 2], "ｗｉｄｅ": "ＡＢＣ"},
        }
        for number in range(count)
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("view")
    judge_rows(root, rows_of(250), "numbers")
    return root / "ws"


def test_judgments_come_in_pages_that_filters_search_and_order_narrow(workspace: Path) -> None:
    expected = {
        "": (250, "row-0"),
        "verdict=incorrect": (84, "row-0"),
        "verdict=incorrect&target=cedar": (42, "row-3"),
        "verdict=correct&offset=100&limit=3": (166, "row-151"),
        "meta=parity=odd": (125, "row-1"),
        "meta=parity=od": (0, None),
        "meta=parity=odd%1Fwide=abc": (125, "row-1"),
        "meta=parity=odd%1Fparity=even": (0, None),
        "meta=wide=abc&q=ROW-24": (11, "row-24"),
        "q=answer+is+row-249": (1, "row-249"),
        "q=oolong": (0, None),
        "sort=newest": (250, "row-249"),
        "sort=highest&limit=1": (250, "row-1"),
        "judge=nobody": (0, None),
        "question=Q12": (2, "row-24"),
        "id=row-204": (250, "row-200"),
        "verdict=incorrect&id=row-249&limit=10": (84, "row-240"),
    }

    async def scenario(client: Client) -> None:
        for query, (matches, first) in expected.items():
            page = await client.wait_for_page(f"/api/runs/numbers/judgments?{query}")
            samples = page["samples"]
            assert (query, page["matches"], samples[0]["id"] if samples else None) == (query, matches, first)
            assert len(page["rows"]) <= 100
            assert page["search"] in (None, {"searched": 250, "samples": 250})
        choices = (await client.wait("/api/runs/numbers/choices")).json
        assert choices["choices"]["target"] == [["aster", 125], ["cedar", 125]]
        assert choices["choices"]["meta"] == [["parity=even", 125], ["parity=odd", 125]]

    look(workspace, scenario)


def test_the_pages_of_every_order_are_the_whole_list_in_that_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties stand as in the dataset; what has no score comes last; a page may lie across several parts of the order."""
    monkeypatch.setattr(listing, "_PART_BITS", 3)
    unsure = [{**row, "response": f"Either 3 or {row['ground_truth']}."} for row in rows_of(40)]
    rows = [unsure[number] if number % 5 == 0 else row for number, row in enumerate(rows_of(40))]
    scores = {row["id"]: None if number % 5 == 0 else float(number % 3 > 0) for number, row in enumerate(rows)}
    judge_rows(tmp_path, tuple(rows), "ordered")
    orders = {
        "": list(scores),
        "newest": list(scores)[::-1],
        "lowest": sorted(scores, key=lambda name: (scores[name] is None, scores[name] or 0)),
        "highest": sorted(scores, key=lambda name: (scores[name] is None, -(scores[name] or 0))),
    }

    async def scenario(client: Client) -> None:
        for sort, names in orders.items():
            for narrowed, expected in (("", names), ("&target=cedar", [one for one in names if int(one[4:]) % 2])):
                found: list[str] = []
                for offset in range(0, len(expected) + 9, 9):
                    asked = f"sort={sort}&limit=9&offset={offset}{narrowed}"
                    page = (await client.wait(f"/api/runs/ordered/judgments?{asked}")).json
                    assert page["matches"] == len(expected)
                    found += [page["samples"][row["sample"]]["id"] for row in page["rows"]]
                assert (sort, narrowed, found) == (sort, narrowed, expected)

    look(tmp_path / "ws", scenario)


@pytest.mark.parametrize(
    "query",
    ["sort=Sideways", "offset=-1", "limit=1001", "meta=Parity", "offset=1e3", "Verdct=correct", "control=Maybe"],
)
def test_what_has_no_meaning_is_one_sentence(workspace: Path, query: str) -> None:
    async def scenario(client: Client) -> None:
        answer = await client.wait(f"/api/runs/numbers/judgments?{query}")
        assert answer.status == 400
        assert answer.json["error"].startswith(f"{query}: ")

    look(workspace, scenario)


def test_a_sample_has_every_judge_its_replies_and_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text(REPLIES, encoding="utf-8")
    judge_rows(tmp_path, _TEA, "tea", "--judge", f"replay:{tmp_path / 'replies.jsonl'}")

    async def scenario(client: Client) -> None:
        told = (await client.wait("/api/runs/tea/sample?id=tea-2")).json
        assert [row["status"] for row in told["rows"]] == ["valid", "invalid"]
        assert [attempt["text"] for attempt in told["rows"][1]["attempts"]] == ["no JSON at all"]
        assert told["more"]["metadata"] == {"cup": "blue"}
        judge = told["rows"][1]["judge"]
        prompt = (await client.wait(f"/api/runs/tea/prompt?id=tea-2&judge={judge}")).json
        assert "So the answer is 7." in prompt["messages"][-1]["content"]
        refused = await client.ask("/api/runs/tea/prompt?id=tea-2&judge=rules")
        assert (refused.status, "no prompt" in refused.text) == (404, True)
        assert (await client.ask("/runs/tea/sample?id=nobody")).status == 404
        page = await client.wait("/runs/tea/sample?id=tea-2")
        assert "no JSON at all" in page.text

    look(tmp_path / "ws", scenario)


def test_values_of_metadata_are_counted_in_judgments_as_all_else_is(tmp_path: Path) -> None:
    """In a cascade a sample that the rules leave open has a judgment more than others."""
    (tmp_path / "replies.jsonl").write_text(REPLIES, encoding="utf-8")
    unsure = {**_TEA[0], "response": "Either 3 or 4.", "metadata": {"cup": "red"}}
    certain = [{**_TEA[1], "id": f"tea-{number}"} for number in (2, 3)]
    judge_rows(tmp_path, (unsure, *certain), "tea", "--judge", f"replay:{tmp_path / 'replies.jsonl'}", "--cascade")

    async def scenario(client: Client) -> None:
        while (told := (await client.wait("/api/runs/tea/choices")).json)["metadata_read"]["searched"] < 3:
            await asyncio.sleep(0.05)
        assert told["choices"]["meta"] == [["cup=blue", 2], ["cup=red", 2]]
        for condition, count in told["choices"]["meta"]:
            page = await client.wait_for_page(f"/api/runs/tea/judgments?meta={condition}")
            assert page["matches"] == count

    look(tmp_path / "ws", scenario)


def test_a_run_that_grows_is_seen_to_grow_without_its_index(tmp_path: Path) -> None:
    judge_rows(tmp_path, rows_of(40), "numbers")
    run = Workspace(tmp_path / "ws").run("numbers")
    lines = run.journal.read_bytes().splitlines(keepends=True)
    manifest = json.loads(run.manifest.read_bytes())
    run.manifest.write_text(json.dumps({**manifest, "status": "running"}), encoding="utf-8")
    run.index.unlink()
    run.journal.write_bytes(b"".join(lines[:20]) + lines[20][:9])

    async def scenario(client: Client) -> None:
        tail = client.server.viewer.tail(run)
        first = tail.look()
        run.journal.write_bytes(b"".join(lines))
        second = tail.look()
        assert (first["is_running"], first["judged"] + first["samples"]) == (True, 20)
        assert (second["judged"], second["samples"], second["statuses"]) == (40, 40, {"valid": 40})
        assert second["newest"][0]["id"] == "row-39"
        assert not run.index.exists()
        run.manifest.write_text(json.dumps(manifest), encoding="utf-8")
        events = (await client.ask("/api/runs/numbers/live")).text
        assert events.startswith("event: end\ndata: {")
        assert '"judged":40' in events

    look(tmp_path / "ws", scenario)


def test_two_runs_are_compared_and_what_cannot_be_is_one_sentence(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        told = (await client.wait("/api/compare?a=numbers&b=numbers&target=aster&target=cedar")).json
        assert told["a"]["target"] == "aster"
        page = await client.wait("/compare?a=numbers&b=numbers&target=aster&target=cedar")
        assert "against" in page.text
        assert (await client.wait("/compare?a=numbers")).status == 400
        assert (await client.wait("/compare")).status == 200

    look(workspace, scenario)


def test_a_comparison_leads_to_every_pair_that_changed(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page lists so many of each kind; the next one begins where it ends, and the last one leads no further."""
    for module in (pages, viewer, compare):
        monkeypatch.setattr(module, "LISTED", 30)
    listed: list[set[str]] = []

    async def scenario(client: Client) -> None:
        address = "/compare?a=numbers&b=numbers&target=aster&target=cedar"
        for start, turns in ((0, ["start=30"]), (30, ["start=0"])):
            page = (await client.wait(f"{address}&start={start}")).text
            assert re.findall(r"(start=\d+)#samples", page) == turns
            # What is copied as Markdown names the first ones, whatever the page lists.
            listed.append(set(re.findall(r"row-\d+", page.split('<script type="application/json"')[0])))
        assert (await client.wait(f"{address}&start=-1")).status == 400

    look(workspace, scenario)

    assert len(listed[0]) > len(listed[1]) > 0
    assert not listed[0] & listed[1]


def test_what_was_needed_to_make_something_is_given_back_when_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing came of it."""
    given_back: list[str] = []
    monkeypatch.setattr(slow_work, "release_freed_memory", lambda: given_back.append("given back"))

    async def scenario() -> None:
        work: slow_work.SlowWork[float] = slow_work.SlowWork()

        async def make(divisor: int) -> float:
            async with patiently(f"7 / {divisor}"):
                while isinstance(value := await work.get(divisor, 1, lambda: 7 / divisor), slow_work.Pending):
                    pass
            return value

        assert await make(2) == 3.5
        with pytest.raises(ZeroDivisionError):
            await make(0)
        await work.close()

    asyncio.run(scenario())

    assert len(given_back) == 2


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_workspace_without_runs_says_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()

    async def scenario(client: Client) -> None:
        page = await client.ask("/")
        assert (page.status, "mixseek judge" in page.text) == (200, True)
        assert (await client.ask("/runs/any")).status == 404

    look(tmp_path / name, scenario)

    assert (tmp_path / name).exists() == (name == "empty")


def test_every_page_speaks_the_reader_s_language(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for language, word in (("ja", "実行"), ("zh", "运行"), ("en", "Runs")):
            assert word in (await client.ask("/", headers={"Accept-Language": f"{language}-XX,en;q=0.5"})).text
            assert word in (await client.ask(f"/?lang={language}")).text
        await client.wait("/api/runs/numbers")
        # What the report's own templates say, sentences with numbers too; a name that is a word stays a name.
        for language, words in (("ja", ("対象", "無効", "250 サンプル")), ("zh", ("无效", "250 个样本"))):
            page = (await client.ask(f"/runs/numbers?lang={language}")).text
            assert [word for word in (*words, "aster") if word not in page] == []
        assert "サンプル" not in (await client.ask("/runs/numbers?lang=en")).text.split("<script", 1)[0]

    look(workspace, scenario)


def test_sentences_about_labels_speak_the_reader_s_language() -> None:
    """Whatever the state of a correction is, and however it was estimated."""
    for sentence in (*SENTENCES.values(), *map(estimator_text, Estimator)):
        assert [language for language in ("ja", "zh") if say_in(language, sentence) == sentence] == []
    assert [estimator_text(estimator) for estimator in Estimator] == [estimator.value for estimator in Estimator]


@pytest.mark.parametrize("method", IntervalMethod)
def test_every_method_of_an_interval_has_words(method: IntervalMethod) -> None:
    words = level_text(Interval(0.1, 0.2, 0.95, method))

    assert words == f"95% {method} interval"
    assert [language for language in ("ja", "zh") if say_in(language, words) == words] == []


def test_a_reworded_sentence_keeps_its_translations(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The English of a message is what English readers see, and nothing else."""
    pages: dict[tuple[str, bool], str] = {}

    async def scenario(client: Client) -> None:
        await client.wait("/api/runs/numbers")
        for is_reworded in (False, True):
            if is_reworded:
                monkeypatch.setattr(
                    scores,
                    "counted",
                    lambda count, noun: Message(f"{noun} × {count}", f"count.{noun}", {"n": str(count)}),
                )
            for language in ("en", "ja", "zh"):
                pages[language, is_reworded] = (await client.ask(f"/runs/numbers?lang={language}")).text

    look(workspace, scenario)

    assert pages["en", False] != pages["en", True]
    assert "question × 125" in pages["en", True]
    assert [pages[language, True] for language in ("ja", "zh")] == [pages[language, False] for language in ("ja", "zh")]


@pytest.mark.parametrize("rule", PanelRule)
@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_a_leader_board_speaks_the_reader_s_language(rule: PanelRule, slope: float) -> None:
    """Every sentence under a board, whatever its numbers are."""
    rows = [
        Comparison(f"q{n}", a, b, float(n % 3 < 2), slope * (n % 3 - n % 2))
        for n in range(30)
        for a, b in ("ab", "bc", "cd", "da")
    ]
    found, controlled = fit_strengths(rows), fit_strengths(rows, with_length=True)
    for agreement in (order_agreement(found.values, found.values), order_agreement(found.values, {"a": 1, "b": 2})):
        board = Board("r", "xyz", found, controlled, found, agreement, panel=rule.value, split=int(slope + 2))
        told = board_sentences(board)

        assert len(told) == 6
        for language in ("ja", "zh"):
            assert [sentence for sentence in told if say_in(language, sentence) == sentence] == []
            assert all(number in say_in(language, told[-2]) for number in re.findall("[0-9.]{3,}", told[-2]))
    # With names in it, numbers in them included.
    for rows in ([Comparison("q", "gpt-4", "b", 1.0)], [Comparison("q", a, b, 0.5) for a, b in (("gpt-4", "b"), "cd")]):
        refused = fit_strengths(rows).sentence
        for language in ("ja", "zh"):
            said = say_in(language, refused)
            assert said != refused
            assert "gpt-4" in said
            assert "strengths" not in said


def test_the_command_prints_a_link_and_ends_at_ctrl_c(workspace: Path) -> None:
    command = [COMMAND, "view", "--no-open", "--workspace", str(workspace)]
    with hearing():
        started = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
        )
    with started as process:
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        with urllib.request.urlopen(link, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - our own address
            assert "HttpOnly" in answer.headers["Set-Cookie"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)

    assert (process.returncode, errors) == (0, "")
