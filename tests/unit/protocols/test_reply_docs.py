"""The page about replies and quotes names everything there is, and nothing else."""

import re
from pathlib import Path

from mixseek.domain.judgments import Flag
from mixseek.matching.quotes import QuoteProblem, QuoteStage
from mixseek.protocols.reply_repairs import Repair

PAGE = (Path(__file__).parents[3] / "docs" / "replies.md").read_text(encoding="utf-8")


def test_every_repair_flag_stage_and_problem_has_its_row() -> None:
    """Read from the first cells of the tables (flags from the last)."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    first = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    last = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row[-1])}

    assert first == {*Repair, *QuoteStage, *QuoteProblem}
    assert last == set(Flag)
