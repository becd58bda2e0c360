"""A search reaches what judges wrote: comments, reasons, extracted answers, and what was wrong with a reply."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import write_jsonl
from tests.unit.web.test_views import rows_of
from tests.unit.web.viewing import Client, judge_rows, look

from mixseek.storage.journal.tail import written_texts

RECORDED = "replay:replies.jsonl"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that comments on every row, and once says nothing that can be read."""
    place = tmp_path_factory.mktemp("searched")
    replies = []
    for number, row in enumerate(rows_of(30)):
        is_right = number % 3 > 0
        reply = {
            "id": row["id"], "extracted_answer": str(number + (1 if is_right else 2)), "is_correct": is_right,
            "reasoning_score": 5 if is_right else 3, "error_type": "none" if is_right else "wrong_logic",
            "comment": "Ｃarries the ONE" if number in (4, 7, 12) else "A plain sum.",
        }  # fmt: skip
        replies.append({"id": row["id"], "reply": "Zanzibar!" if number == 9 else json.dumps(reply)})
    write_jsonl(place / "replies.jsonl", replies)
    judge_rows(place, rows_of(30), "numbers", "--judge", RECORDED)
    return place / "ws"


def test_words_of_a_judge_find_its_judgments_and_no_others(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        async def found(query: str) -> list[tuple[str, str]]:
            page = await client.wait_for_page(f"/api/runs/numbers/judgments?limit=1000&{query}")
            return [(page["samples"][row["sample"]]["id"], row["judge"]) for row in page["rows"]]

        assert await found("q=carries+one") == [("row-4", RECORDED), ("row-7", RECORDED), ("row-12", RECORDED)]
        # What one judge wrote is not put together with the texts, nor with what another wrote.
        assert await found("q=carries+row-4") == []
        assert await found("q=carries+decided") == []
        assert await found("q=carries&meta=parity=even") == [("row-4", RECORDED), ("row-12", RECORDED)]
        assert await found("q=carries&verdict=incorrect") == [("row-12", RECORDED)]
        # Texts of a sample mean all of its judgments, as before.
        assert await found("q=row-4") == [("row-4", "rules"), ("row-4", RECORDED)]
        assert [judge for _, judge in await found("q=decided+by+rules")] == ["rules"] * 30
        # The ground truth of one, the answer that was extracted from another.
        answers = await found("q=29")
        assert {name for name, _ in answers} >= {"row-28", "row-27"}

    look(workspace, scenario)


def test_every_kind_of_text_that_a_judge_writes_is_searched() -> None:
    outcome: dict[str, Any] = {
        "reason": "a-reason",
        "flags": [{"flag": "UNPARSABLE_OUTPUT", "detail": "a-detail"}],
        "fields": {
            "comment": "a-comment", "extracted_answer": "an-answer", "notes": "a-note",
            "reasons": {"depth": "why-depth"}, "gates": {"safe": {"failed": True, "reason": "why-unsafe"}},
            "evidence": [{"quote": "a-quote", "reason": "why-quoted"}], "is_correct": True,
        },
    }  # fmt: skip

    assert {text for text in written_texts(outcome) if text is not None} == {
        "a-reason", "a-detail", "a-comment", "an-answer", "a-note", "why-depth", "why-unsafe", "a-quote", "why-quoted",
    }  # fmt: skip
