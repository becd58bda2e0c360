"""Which judges bring their replies along, told without loading what reads them."""

from pathlib import Path

from mixseek.runs.requests.named import get_panel, replays_file, replays_rows


def test_recorded_replies_are_told_from_rules_by_where_they_stand(tmp_path: Path) -> None:
    """In the rows, in a file, or nowhere."""
    file = tmp_path / "replies.jsonl"
    file.write_text('{"id": "a", "reply": "{}"}\n', encoding="utf-8")
    judges = get_panel(["rules", "replay", f"replay:{file}"], {}, {})

    assert [(replays_rows(judge), replays_file(judge)) for judge in judges] == [
        (False, False),
        (True, False),
        (False, True),
    ]
