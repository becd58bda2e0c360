"""The page about replies and quotes names everything there is, and nothing else."""

import re
from pathlib import Path

from jinja2.filters import FILTERS

from mixseek.domain.judgments import Flag
from mixseek.errors import ConfigurationError
from mixseek.matching.evidence.quotes import QuoteProblem, QuoteStage
from mixseek.protocols.replies.repairs import ALWAYS_ALLOWED, Repair
from mixseek.templating import compile_template

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "replies.md").read_text(encoding="utf-8")


def test_every_repair_flag_stage_and_problem_has_its_row() -> None:
    """Read from the first cells of the tables (flags from the last)."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    first = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    last = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row[-1])}

    assert first == {*Repair, *QuoteStage, *QuoteProblem}
    assert last == set(Flag)


def test_the_page_says_which_repairs_strict_mode_allows() -> None:
    """Extra keys among them, and what becomes of them."""
    paragraph = PAGE.split("In `strict` mode two are still allowed:")[1].split("\n\n")[0]
    allowed = paragraph.split("; so a strict reply with extra keys is valid")[0]

    assert set(re.findall(r"`(\w+)`", allowed)) == set(ALWAYS_ALLOWED)
    assert "Every other repair is a `PROTOCOL_VIOLATION` in `strict` mode." in paragraph


def test_the_page_about_protocols_lists_exactly_the_filters_that_a_template_may_use() -> None:
    page = (DOCS / "protocols.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+)`", page.split("Filters that a template may use:")[1].split(".\n")[0])

    assert sorted(listed) == sorted(name for name in FILTERS if _is_allowed(name))


def _is_allowed(name: str) -> bool:
    try:
        compile_template(f"{{{{ text | {name} }}}}", frozenset({"text"}), "a template")
    except ConfigurationError:
        return False
    return True
