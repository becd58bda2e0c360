"""The viewer reads an answer run by places: the same rows as everybody's, page by page, narrowed and searched."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.flows.answer_material import RUN, rows_of, run_of, succeed, write_questions, write_targets, write_variants
from tests.flows.running import mixseek_here
from tests.flows.target_server import Shares, targeting
from tests.once import made_once
from tests.unit.web.viewing import Client, look

from mixseek.runs.answers.paged import NOT_ASKED, PLACE_STATES
from mixseek.web.pages import address_of

QUESTIONS, REPEATS = 30, 2
SHARES = Shares(cut_off=0.15, withheld=0.05, refused=0.05, empty=0.1, failed=0.1, faults=0)
# What an answer is called on a page, and in a row.
SAME = {"text": "response", "why": "response_error"} | {
    name: name for name in ("reasoning", "seed", "cost_usd", "finish_reason", "latency_seconds", "served_model")
}
API = f"/api/answers/{RUN}"


def make_answers(root: Path) -> None:
    """Two targets, two variants and two repeats of thirty questions; a third target was asked five of them."""
    data = write_questions(root / "questions.jsonl", QUESTIONS)
    with targeting(SHARES) as (_, hand):
        words = write_targets(root, hand.base_url, {name: {} for name in ("alpha", "beta", "gamma")})
        variants = write_variants(root, 2)
        repeats = ("--repeats", str(REPEATS), "--concurrency", "8")
        succeed(data, *words[:4], *variants, *repeats, cwd=root)
        succeed(data, *words[4:], *variants[:2], "--limit", "5", cwd=root)


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    shutil.copytree(made_once(tmp_path_factory, "answers-to-view", make_answers), tmp_path / "own")
    return tmp_path / "own"


def state_of(row: Mapping[str, Any]) -> str:
    return row["response_state"] or "failed"


def is_shown(row: Mapping[str, Any], **wanted: str) -> bool:
    return all(
        row[{"target": "target_model", "variant": "prompt_variant"}[name]] == value for name, value in wanted.items()
    )


async def pages_of(client: Client, asked: str, limit: int = 7) -> Iterator[dict[str, Any]]:
    """Every question that an address means, page after page."""
    rows: list[dict[str, Any]] = []
    matches = 1
    while len(rows) < matches:
        document = (await client.wait(f"{API}/questions?{asked}&limit={limit}&offset={len(rows)}")).json
        matches = document["matches"]
        rows += document["rows"]
    return iter(rows)


def test_every_answer_of_every_page_is_the_row_that_is_exported(place: Path) -> None:
    rows = {
        (row["question_id"], row["target_model"], row["prompt_variant"], row["repeat"]): row for row in rows_of(place)
    }

    async def scenario(client: Client) -> None:
        document = (await client.wait(f"{API}/questions")).json
        columns = [(column["target"], column["variant"]) for column in document["columns"]]
        asked = f"columns={','.join(str(place + 1) for place in range(len(columns)))}"
        shown = set()
        for question in await pages_of(client, asked):
            for column, cell in enumerate(question["cells"]):
                for answer in cell:
                    name = (question["id"], *columns[column], answer["repeat"])
                    shown.add(name)
                    assert answer["state"] == state_of(rows[name])
                    if answer["repeat"] > 1:
                        one = f"number={question['number']}&column={column + 1}&repeat={answer['repeat']}"
                        answer = (await client.wait(f"{API}/answer?{one}")).json["answer"]
                    expected = {key: rows[name][column] or None for key, column in SAME.items()}
                    assert {key: answer.get(key) or None for key in SAME} == expected, name
        assert shown == set(rows)
        assert (document["total"], document["planned"], len(columns)) == (QUESTIONS, QUESTIONS, 5)
        assert document["shown"] == [1, 2, 3, 4]

    look(place / "ws", scenario)


def test_filters_and_words_leave_the_questions_whose_answers_they_mean(place: Path) -> None:
    """Of each state and of each of its columns; words are found in questions, and in responses that count."""
    rows = rows_of(place)
    word = next(row["response"] for row in rows if row["response"] and state_of(row) == "finished").split()[4]
    narrowed: list[dict[str, str]] = [{}, {"target": "model-beta (beta)"}, {"variant": "B"}]
    assert {row["target_model"] for row in rows} >= {"model-beta (beta)"}

    async def scenario(client: Client) -> None:
        for state in ("finished", "cut_off", "withheld", "empty", "failed"):
            for filters in narrowed:
                expected = {row["question_id"] for row in rows if state_of(row) == state and is_shown(row, **filters)}
                asked = "&".join(f"{name}={quote(value)}" for name, value in {"state": state, **filters}.items())
                names = [question["id"] for question in await pages_of(client, asked)]
                assert (asked, set(names), len(names)) == (asked, expected, len(expected))
        for words, expected in (
            (word, {row["question_id"] for row in rows if word in (row["response"] or "")}),
            ("RIDDLE 17", {row["question_id"] for row in rows if "Riddle 17:" in row["question"]}),
            ("think", set()),
            ("nobody wrote this", set()),
        ):
            listed = {question["id"] for question in await pages_of(client, f"q={quote(words)}")}
            assert (words, listed) == (words, expected)
        both = {row["question_id"] for row in rows if state_of(row) == "empty" and "Riddle 1" in row["question"]}
        assert {question["id"] for question in await pages_of(client, "state=empty&q=riddle+1")} >= both

    look(place / "ws", scenario)


def test_a_state_shows_the_columns_that_have_it_and_names_those_that_are_hidden(place: Path) -> None:
    async def scenario(client: Client) -> None:
        for question in await pages_of(client, "state=finished&columns=1"):
            whole = (
                await client.wait(f"{API}/questions?columns=1,2,3,4,5&offset={question['number'] - 1}&limit=1")
            ).json
            cells = whole["rows"][0]["cells"]
            expected = [
                place + 1
                for place, cell in enumerate(cells)
                if place and any(answer["state"] == "finished" for answer in cell)
            ]
            assert question.get("elsewhere", []) == expected

    look(place / "ws", scenario)


def test_a_run_that_was_broken_off_shows_what_is_there_and_what_was_never_asked(place: Path) -> None:
    """In the middle of a line; a page of it does not mind, and it grows."""
    run = run_of(place)
    lines = run.journal.read_bytes().splitlines(keepends=True)
    manifest = json.loads(run.manifest.read_bytes())
    run.manifest.write_text(json.dumps({**manifest, "status": "running", "journal": None}), encoding="utf-8")
    run.journal.write_bytes(b"".join(lines[:60]) + lines[60][:20])
    before = {(row["id"]): row for row in rows_of(place)}
    unasked = {
        row["question_id"]
        for row in before.values()
        if row["response_error"] and "not answered yet" in row["response_error"]
    }

    async def scenario(client: Client) -> None:
        listed = {question["id"] for question in await pages_of(client, f"state={NOT_ASKED}")}
        document = (await client.wait(f"{API}/questions")).json
        assert listed == unasked
        assert 0 < document["total"] < document["planned"] == QUESTIONS
        assert (await client.wait(API)).json["open"] > 0

    look(place / "ws", scenario)


def test_a_reply_that_another_one_has_replaced_is_no_longer_found(place: Path) -> None:
    run = run_of(place)
    lines = run.journal.read_bytes().splitlines(keepends=True)
    reply = next(record for record in map(json.loads, lines) if record["t"] == "reply" and "answer" in record["text"])
    outcome = next(
        record
        for record in map(json.loads, lines)
        if record["t"] == "outcome"
        and (record["key"], record["judge"]) == (reply["key"], reply["judge"])
        and record.get("take", 1) == reply["details"].get("take", 1)
    )
    before = reply["text"].split()[4]
    again = ({**reply, "text": "Something else, asked for again.", "attempt": 2}, outcome)
    manifest = json.loads(run.manifest.read_bytes())
    run.manifest.write_text(json.dumps({**manifest, "journal": None}), encoding="utf-8")

    async def scenario(client: Client) -> None:
        found = [question["id"] for question in await pages_of(client, f"q={before}")]
        with run.journal.open("ab") as journal:
            journal.writelines(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in again)
        assert found
        assert [question["id"] for question in await pages_of(client, "q=asked+for+again")] == found
        assert [question["id"] for question in await pages_of(client, f"q={before}")] == []

    look(place / "ws", scenario)


def test_a_journal_that_was_changed_is_refused_with_the_sentence_of_the_command_line(place: Path) -> None:
    run = run_of(place)
    run.journal.write_bytes(run.journal.read_bytes().replace(b"The answer", b"Any answer", 1))

    async def scenario(client: Client) -> None:
        refused = await client.wait(f"{API}/questions")
        assert (refused.status, "changed since it was written" in refused.json["error"]) == (500, True)

    look(place / "ws", scenario)


def test_what_has_no_meaning_is_refused(place: Path) -> None:
    wrong = (
        *("state=Finished", "target=nobody", "variant=C", "columns=6", "columns=0", "columns=1,1", "columns=a"),
        *("limit=0", "limit=101", "offset=-1", "Moon=full"),
    )

    async def scenario(client: Client) -> None:
        for asked in wrong:
            answer = await client.wait(f"{API}/questions?{asked}")
            assert (asked, answer.status) == (asked, 400)
        for asked in ("", "number=1", "number=1&column=6", "number=1&column=1&repeat=0"):
            assert (asked, (await client.wait(f"{API}/answer?{asked}")).status) == (asked, 400)
        for path in (
            f"{API}/answer?number=31&column=1",
            f"{API}/answer?number=1&column=1&repeat=3",
            "/api/answers/none",
        ):
            assert (path, (await client.wait(path)).status) == (path, 404)

    look(place / "ws", scenario)

    assert set(PLACE_STATES) == {"finished", "cut_off", "withheld", "empty", "failed", "open", "not_asked"}


def test_a_name_on_the_command_line_is_the_page_that_the_link_opens(place: Path) -> None:
    judged = mixseek_here("judge", f"answers:{RUN}", "--judge", "rules", "--workspace", "ws", "--run", "v 1", cwd=place)
    assert judged.returncode in (0, 1), judged.stderr
    root = place / "ws"

    async def scenario(client: Client) -> None:
        for name, page in ((None, "/"), (f"answers:{RUN}", f"/answers/{RUN}"), ("v 1", "/runs/v%201")):
            assert (name, address_of(root, name)) == (name, page)
            link = client.server.link_to(page).removeprefix(client.server.address)
            welcome = await client.ask(link, is_known=False)
            assert f'url={page}"' in welcome.text
            assert (await client.wait(page)).status == 200

    look(root, scenario)

    for name in ("answers:nobody", "nobody"):
        refused = mixseek_here("view", name, "--workspace", "ws", "--no-open", cwd=place)
        assert (refused.returncode, "nobody" in refused.stderr, refused.stdout) == (2, True, "")
