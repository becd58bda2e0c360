"""A label given beside an open judgment: at once in every list and matrix, and in no number, whatever else there is."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.test_review import REVIEW, give, label, texts_of
from tests.unit.web.test_views import rows_of
from tests.unit.web.viewing import Client, judge_rows, look

from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

SAMPLE, LIST = "/api/runs/numbers/sample", "/api/runs/numbers/judgments"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    judge_rows(tmp_path, rows_of(12), "numbers")
    return tmp_path / "ws"


async def text_of(client: Client, name: str) -> str:
    text: str = (await client.wait(f"{SAMPLE}?id={name}")).json["samples"][0]["text"]
    return text


async def say_beside(client: Client, name: str, verdict: str, rater: str = "mia") -> None:
    """As the page of the list does."""
    body = label(await text_of(client, name), rater, verdict, f"c-{name}-{verdict}", "")
    answer = await give(client, body)
    assert answer.status == 200, answer.text


async def corrected_of(client: Client) -> Any:
    return (await client.wait("/api/runs/numbers")).json["corrected"]


def test_a_label_beside_a_judgment_is_listed_and_corrects_nothing(place: Path) -> None:
    """Not even where every text of the run was labelled so: nobody drew them."""

    async def scenario(client: Client) -> None:
        await say_beside(client, "row-1", "incorrect")
        listed = (await client.wait(f"{LIST}?wrong=yes")).json
        assert [(row["id"], row["people"]) for row in listed["samples"]] == [("row-1", "incorrect")]
        (kept,) = LabelStore(Workspace(place)).read()
        assert (kept.drawn, kept.draw, kept.saw_verdicts, kept.queue) == ("chosen", None, True, "")
        await say_beside(client, "row-1", "correct")
        assert (await client.wait(f"{LIST}?wrong=yes")).json["matches"] == 0
        for number in range(12):
            await say_beside(client, f"row-{number}", "incorrect", "noah")
        corrected = await corrected_of(client)
        assert (corrected["drawing"], corrected["labelled"]) == ("chosen", 12)
        assert (corrected["corrected"]["mean"], corrected["labels_only"]["mean"]) == (None, None)
        # Counts are listed; how good the judge is they do not tell.
        (rules,) = corrected["by_judge"]
        assert sum(row["right"] + row["wrong"] for row in rules["confusion"]) == 12
        assert (rules["sensitivity"], rules["specificity"]) == (None, None)

    look(place, scenario)


def test_a_drawn_label_stays_in_the_number_when_somebody_changes_their_mind_beside_it(place: Path) -> None:
    async def scenario(client: Client) -> None:
        drawn = (await client.post(f"{REVIEW}/draws", {"count": 8, "by_verdict": False})).json["queue"]
        items = await texts_of(client, drawn, "mia")
        for number, (text, _) in enumerate(items):
            assert (await give(client, label(text, "mia", "correct", f"d-{number}", drawn))).status == 200
        before = await corrected_of(client)
        assert before["corrected"]["mean"] is not None
        names = {await text_of(client, f"row-{number}"): f"row-{number}" for number in range(12)}
        changed = names[items[0][0]]
        await say_beside(client, changed, "incorrect")
        for name in names.values():
            await say_beside(client, name, "incorrect", "noah")
        after = await corrected_of(client)
        for way in ("corrected", "labels_only"):
            assert {**after[way], "sentence": ""} == {**before[way], "sentence": ""}
        # What people say now is another matter: here both, elsewhere one against the other.
        assert (await client.wait(f"{LIST}?people=incorrect")).json["matches"] == 12 - 7
        assert (await client.wait(f"{LIST}?people=disputed")).json["matches"] == 7
        assert sum(row["disputed"] for row in after["confusion"]) == 7
        # The text was labelled in its queue: it is not asked for again.
        assert [is_done for _, is_done in await texts_of(client, drawn, "mia")] == [True] * 8

    look(place, scenario)


def test_a_viewer_for_reading_takes_no_label(place: Path) -> None:
    async def scenario(client: Client) -> None:
        body = label(await text_of(client, "row-1"), "mia", "incorrect", "c-read-only", "")
        assert (await give(client, body)).status == 403
        stolen = await client.ask(
            f"{REVIEW}/labels", "POST", headers={"Origin": "http://elsewhere.example"}, body=b"{}"
        )
        assert stolen.status == 403

    look(place, scenario, is_read_only=True)
    assert not LabelStore(Workspace(place)).path.exists()
