"""Labels given in the viewer: blind, kept at once and for good, and the same as any other label."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import COMMAND, environment, mixseek_here, write_jsonl
from tests.unit.web.test_views import rows_of
from tests.unit.web.viewing import Answer, Client, judge_rows, look

from mixseek.domain.labels import Label
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

REVIEW = "/api/runs/numbers/review"
# What only judges and other raters could have said.
PLANTED = ("PLANTEDCOMMENT", "PLANTEDNOTE", "wrong_logic", "aster", "row-", "score")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty answers; a recorded judge contradicts the rules on four of them and is unusable on two. Once it calls
    right what the response does not say."""
    tmp_path = tmp_path_factory.mktemp("judged")
    rows = rows_of(40)
    said = []
    for number, row in enumerate(rows):
        is_right = (number % 3 != 0) is not (number in (1, 2, 3, 4))
        reply = {
            "id": row["id"], "extracted_answer": str(number + 1 if is_right else number + 2), "is_correct": is_right,
            "reasoning_score": 5 if is_right else 3, "error_type": "none" if is_right else "wrong_logic",
            "comment": "PLANTEDCOMMENT",
        }  # fmt: skip
        said.append({"id": row["id"], "reply": "no JSON at all" if number in (10, 11) else json.dumps(reply)})
    write_jsonl(tmp_path / "replies.jsonl", said)
    judge_rows(tmp_path, rows, "numbers", "--judge", f"replay:{tmp_path / 'replies.jsonl'}")
    return tmp_path


@pytest.fixture
def place(judged: Path, tmp_path: Path) -> Path:
    """A copy for each test."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    return tmp_path / "ws"


def label(text: str, rater: str, verdict: str, name: str, queue: str, **more: object) -> dict[str, Any]:
    told = {"id": name.ljust(8, "-"), "queue": queue, "text": text, "rater": rater, "verdict": verdict, "seconds": 2.5}
    return {**told, **more}


async def texts_of(client: Client, queue: str, rater: str) -> list[tuple[str, bool]]:
    answer = await client.wait(f"{REVIEW}/queue?queue={queue}&rater={rater}")
    assert answer.status == 200, answer.text
    return [(text, is_done) for text, is_done in answer.json["items"]]


async def give(client: Client, body: dict[str, Any]) -> Answer:
    return await client.post(f"{REVIEW}/labels", body)


def test_nothing_that_others_said_is_sent_before_ones_own_label(place: Path) -> None:
    async def scenario(client: Client) -> None:
        (first, _), *_ = await texts_of(client, "disagreements", "mia")
        await give(client, label(first, "noah", "incorrect", "noah-1", "disagreements", note="PLANTEDNOTE"))
        path = f"{REVIEW}/item?queue=disagreements&text={first}&rater="
        before = await client.wait(path + "mia")
        assert [word for word in PLANTED if word in before.text] == []
        assert set(before.json) == {"text", "sample", "form", "own", "is_turned", "was_turned"}
        assert before.json["own"] is None
        page = await client.wait(f"/runs/numbers/review?queue=disagreements&rater=mia&text={first}")
        assert [word for word in PLANTED[:3] if word in page.text] == []
        after = await give(client, label(first, "mia", "correct", "mia-1", "disagreements"))
        assert "PLANTEDCOMMENT" in after.text
        assert {one["rater"]: one["given"] for one in after.json["raters"]} == {"noah": "incorrect", "mia": "correct"}
        assert after.json["standing"] == "undecided"
        assert "PLANTEDNOTE" in (await client.wait(path + "mia")).text
        # Whoever wants to see the verdicts first may, and the label says so.
        second = (await texts_of(client, "disagreements", "mia"))[1][0]
        opened = await client.wait(f"{REVIEW}/item?queue=disagreements&text={second}&rater=mia&open=yes")
        assert "PLANTEDCOMMENT" in opened.text
        shown = await give(client, label(second, "mia", "correct", "mia-2", "disagreements", is_open=True))
        assert (after.json["own"]["saw_verdicts"], shown.json["own"]["saw_verdicts"]) == (False, True)

    look(place, scenario)


def test_what_a_second_window_replaces_is_named_and_what_is_sent_twice_is_not(place: Path) -> None:
    async def scenario(client: Client) -> None:
        (first, _), *_ = await texts_of(client, "disagreements", "mia")
        once = label(first, "mia", "correct", "mia-1", "disagreements")
        assert "replaced" not in (await give(client, once)).json
        assert "replaced" not in (await give(client, once)).json
        again = await give(client, label(first, "mia", "incorrect", "mia-2", "disagreements"))
        assert again.json["replaced"]["given"] == "correct"
        assert "replaced" not in (await give(client, label(first, "noah", "correct", "noah-1", "disagreements"))).json

    look(place, scenario)


def test_queues_are_always_the_same_and_say_what_their_labels_are_for(place: Path) -> None:
    async def scenario(client: Client) -> None:
        drawn = (await client.post(f"{REVIEW}/draws", {"count": 20, "by_verdict": True})).json
        overview = (await client.wait(f"{REVIEW}?rater=mia")).json
        queues = {one["kind"]: (one["listed"], one["use"]) for one in overview["queues"]}
        assert queues == {
            "draw": (20, "headline"), "disputes": (0, "settles"), "disagreements": (4, "agreement"),
            "undecided": (4, "agreement"), "invalid": (2, "agreement"), "evidence": (1, "agreement"),
        }  # fmt: skip
        assert overview["draw"] == {"left": 20, "columns": ["verdict"]}
        for queue in (drawn["queue"], "invalid", "filter:verdict%3Dincorrect%26q%3Drow-3", "filter:target%3Daster"):
            assert await texts_of(client, queue, "mia") == await texts_of(client, queue, "noah")
        wrong = (await client.wait(f"{REVIEW}/queue?queue=filter:verdict%3Dincorrect%26q%3Drow-3&rater=mia")).json
        plain = (await client.wait(f"{REVIEW}/queue?queue=filter:target%3Daster&rater=mia")).json
        assert (wrong["tells"], plain["tells"], plain["listed"]) == (True, False, 20)
        refused = await client.wait(f"{REVIEW}/queue?queue=nonsense&rater=mia")
        assert (refused.status, "queue=nonsense: there is" in refused.json["error"]) == (400, True)

    look(place, scenario)


def test_a_label_of_the_page_is_the_label_that_every_command_sees(place: Path) -> None:
    """Only the drawn ones correct the headline, though a picked text may be in the draw as well."""

    async def scenario(client: Client) -> None:
        drawn = (await client.post(f"{REVIEW}/draws", {"count": 20, "by_verdict": True})).json["queue"]
        items = await texts_of(client, drawn, "mia")
        picked = [text for text, _ in await texts_of(client, "disagreements", "mia")]
        for text in picked:
            assert (await give(client, label(text, "mia", "correct", f"p-{text[:20]}", "disagreements"))).status == 200
        numbers = (await client.wait(f"{REVIEW}/numbers?width=0.3")).json
        assert (numbers["corrected"]["mean"], numbers["labelled"], numbers["path"]) == (None, 4, [])
        # What was picked elsewhere is asked again where it is drawn: only then did the lot choose it.
        assert [is_done for _, is_done in await texts_of(client, drawn, "mia")] == [False] * 20
        for place_in_queue, (text, _) in enumerate(items):
            answer = await give(client, label(text, "mia", "correct", f"d-{place_in_queue}", drawn))
            assert answer.status == 200, answer.text
        numbers = (await client.wait(f"{REVIEW}/numbers?width=0.3")).json
        widths = [point["high"] - point["low"] for point in numbers["path"]]
        assert numbers["corrected"]["mean"] is not None
        assert widths[-1] < widths[0]
        assert (numbers["is_enough"], numbers["path"][-1]["labels"]) == (True, 20)
        assert (await client.wait(f"{REVIEW}/numbers?width=0.01")).json["is_enough"] is False
        report = (await client.wait("/api/runs/numbers")).json
        assert report["corrected"]["corrected"]["mean"] == numbers["corrected"]["mean"]

    look(place, scenario)
    status = mixseek_here("label", "status", "numbers", "--workspace", place, "--json", cwd=place.parent)
    told = json.loads(status.stdout)
    assert told["draws"][0]["labelled"] == 20
    assert told["protocols"][0]["raters"] == [["mia", told["protocols"][0]["texts"]]]


def test_what_is_sent_twice_is_kept_once_and_undo_is_a_line_more(place: Path) -> None:
    async def scenario(client: Client) -> None:
        (text, _), *_ = await texts_of(client, "invalid", "mia")
        body = label(text, "mia", "correct", "once", "invalid")
        assert [(await give(client, body)).status for _ in range(3)] == [200] * 3
        store = LabelStore(Workspace(place))
        assert [one.id for one in store.lines()] == ["once----"]
        assert (await texts_of(client, "invalid", "mia"))[0] == (text, True)
        taken = {"id": "undo-001", "rater": "mia", "retracts": "once----"}
        stolen = await client.post(f"{REVIEW}/retractions", {**taken, "rater": "noah"})
        assert (stolen.status, "has given no label" in stolen.json["error"]) == (400, True)
        assert [(await client.post(f"{REVIEW}/retractions", taken)).status for _ in range(2)] == [200] * 2
        assert ([one.id for one in store.lines()], store.read()) == (["once----", "undo-001"], [])
        assert (await texts_of(client, "invalid", "mia"))[0] == (text, False)
        # Blind again, but whoever has seen the verdicts cannot unsee them.
        item = await client.wait(f"{REVIEW}/item?queue=invalid&text={text}&rater=mia")
        assert "judged" not in item.json
        again = await give(client, {**body, "id": "again-01"})
        assert again.json["own"]["saw_verdicts"] is True
        for wrong in ({"verdict": "maybe"}, {"text": "f" * 64}, {"rater": " "}, {"seconds": -1}, {"queue": "draw:d0"}):
            refused = await give(client, {**body, "id": "wrong-01", **wrong})
            assert (refused.status, list(refused.json)) == (400, ["error"])
        assert len(store.lines()) == 3

    look(place, scenario)


def test_raters_who_differ_are_settled_by_one_more_word(place: Path) -> None:
    async def scenario(client: Client) -> None:
        texts = [text for text, _ in await texts_of(client, "disagreements", "mia")]
        for number, text in enumerate(texts):
            await give(client, label(text, "mia", "correct", f"mia-{number}", "disagreements"))
            verdict = "incorrect" if number == 0 else "correct"
            await give(client, label(text, "noah", verdict, f"noah-{number}", "disagreements"))
        numbers = (await client.wait(f"{REVIEW}/numbers")).json
        assert (numbers["disputed"], numbers["agreement"]["texts"], numbers["agreement"]["share"]) == (1, 4, 0.75)
        assert await texts_of(client, "disputes", "ada") == [(texts[0], False)]
        item = (await client.wait(f"{REVIEW}/item?queue=disputes&text={texts[0]}&rater=ada")).json
        assert [one["given"] for one in item["raters"]] == ["correct", "incorrect"]
        assert "judged" not in item
        settled = (await give(client, label(texts[0], "ada", "incorrect", "ada-1", "disputes"))).json
        assert (settled["standing"], settled["own"]["given"]) == ("adjudicated", "incorrect")
        assert await texts_of(client, "disputes", "mia") == [(texts[0], True)]
        assert (await client.wait(f"{REVIEW}/numbers")).json["disputed"] == 0

    look(place, scenario)


def write_many(path: Path, rater: str, count: int) -> str:
    """A program that appends labels, one at a time, as another server or command would."""
    return f"""
from pathlib import Path
from mixseek.domain.labels import Label
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace
store = LabelStore(Workspace(Path({str(path)!r})))
for number in range({count}):
    store.append([Label(text=str(number), protocol="semantic", rater={rater!r}, share=1.0, given="correct",
                        id=f"{rater}-{{number}}", note="x" * 2000)])
"""


def test_writers_beside_each_other_tear_no_line_and_lose_none(tmp_path: Path) -> None:
    """Two processes and two threads of this one, twenty labels each."""
    root = tmp_path / "ws"
    store = LabelStore(Workspace(root))
    others = [
        subprocess.Popen([sys.executable, "-c", write_many(root, name, 20)], env=environment()) for name in ("a", "b")
    ]

    async def write(rater: str) -> None:
        for number in range(20):
            one = Label(
                text=str(number), protocol="semantic", rater=rater, share=0.0, given="incorrect", id=f"{rater}-{number}"
            )
            await asyncio.to_thread(store.append, [one])

    async def both() -> None:
        await asyncio.gather(write("c"), write("d"))

    asyncio.run(both())
    assert [other.wait(60) for other in others] == [0, 0]

    found = [(one.rater, one.text) for one in store.read()]
    assert sorted(found) == sorted((rater, str(number)) for rater in "abcd" for number in range(20))


@pytest.mark.optin
def test_kill_9_loses_no_label_that_was_answered_and_doubles_none(place: Path) -> None:
    """The server dies in the middle; the page sends what had no answer again to the next one."""
    for name in ("first", "second"):
        command = [COMMAND, "view", "--workspace", str(place), "--no-open"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as process:
            assert process.stdout is not None
            link = process.stdout.readline().split()[-1]
            asyncio.run(label_some(link, name))
            os.kill(process.pid, signal.SIGKILL)

    store = LabelStore(Workspace(place))
    assert len({one.text for one in store.read()}) == 6
    assert len(store.lines()) == 6


async def label_some(link: str, name: str) -> None:
    """Three labels in each life of the server; the third is sent again after the crash."""
    from aiohttp import ClientSession
    from yarl import URL

    address = URL(link)
    secret = {"Authorization": f"Bearer {address.query['key']}", "Origin": str(address.origin())}
    api = address.with_query(None) / "api/runs/numbers/review"
    async with ClientSession(headers=secret) as session:

        async def ask(method: str, path: URL, body: Any = None) -> Any:
            while True:
                async with session.request(method, path, json=body) as answer:
                    if answer.status != 202:
                        assert answer.status == 200, await answer.text()
                        return await answer.json()
                await asyncio.sleep(0.05)

        queue = "filter:" if name == "first" else "filter:q=row"
        items = (await ask("GET", (api / "queue").with_query(queue=queue, rater="mia")))["items"]
        done = sum(is_done for _, is_done in items)
        assert done == (0 if name == "first" else 3)
        texts = sorted(text for text, _ in items)
        places = range(3) if name == "first" else range(2, 6)
        for number in places:
            await ask("POST", api / "labels", label(texts[number], "mia", "correct", f"label-{number}", queue))


def test_a_pair_is_shown_whole_and_without_what_people_prefer(tmp_path: Path) -> None:
    """Two pairs that share a response are two texts; a label is A, B or tie."""
    rows = [
        {"id": f"pair {other}", "question": "Name a tea.", "response": "Sencha.", "response_b": other,
         "ground_truth": "PLANTEDPREFERENCE"}
        for other in ("Assam.", "Stone.")
    ]  # fmt: skip
    write_jsonl(tmp_path / "pairs.jsonl", rows)
    reply = {"comment": "PLANTEDCOMMENT", "reasons": [], "verdict": "A", "strength": "clear"}
    said = [{"id": row["id"], "presentation": order, "reply": json.dumps(reply)} for row in rows for order in ("ab",)]
    write_jsonl(tmp_path / "replies.jsonl", said)
    options = ("--protocol", "pairwise", "--judge", "replay:replies.jsonl", "-w", "ws", "--run", "numbers", "-q")
    mixseek_here("judge", "pairs.jsonl", *options, cwd=tmp_path)

    async def scenario(client: Client) -> None:
        items = await texts_of(client, "filter:", "mia")
        assert len(items) == 2
        text = items[0][0]
        before = await client.wait(f"{REVIEW}/item?queue=filter:&text={text}&rater=mia")
        assert "PLANTED" not in before.text
        assert before.json["sample"]["response_b"] in ("Assam.", "Stone.")
        given = await give(client, label(text, "mia", "tie", "pair-1", "filter:"))
        assert (given.status, given.json["own"]["share"]) == (200, 0.5)
        assert (await give(client, label(text, "mia", "correct", "pair-2", "filter:"))).status == 400
        # Which of the two comes first is drawn for each rater; the label is about A and B of the dataset all the same.
        seen = set()
        for number in range(12):
            rater = f"rater-{number}"
            place = f"{REVIEW}/item?queue=filter:&text={text}&rater={rater}"
            shown, again = [(await client.ask(place)).json for _ in range(2)]
            assert shown == again
            first = "A" if shown["sample"]["response"] == "Sencha." else "B"
            assert shown["is_turned"] == (first == "B")
            seen.add(first)
            answer = {**label(text, rater, first, f"turned-{number}", "filter:"), "is_turned": shown["is_turned"]}
            told = (await give(client, {**answer, "verdict": "A"})).json
            assert told["own"]["given"] == first
            # What the judges said comes with the pair as it stands in the dataset.
            assert (told["sample"]["response"], told["was_turned"]) == ("Sencha.", shown["is_turned"])
        assert seen == {"A", "B"}

    look(tmp_path / "ws", scenario)
