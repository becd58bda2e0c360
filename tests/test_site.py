"""The documentation as a site: every page in the navigation, every link to something that is there, nothing fetched."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")


def pages_in(nav: Any) -> list[str]:
    """Titles hold pages, or lists of titles."""
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [page for part in inner for page in pages_in(part)]


def test_every_page_is_in_the_navigation_once() -> None:
    """A new page? Add it to `nav` in zensical.toml."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))

    assert sorted(pages_in(config["project"]["nav"])) == [str(page.relative_to(DOCS)) for page in PAGES]


@each("page", [*PAGES, ROOT / "README.md"])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """Anchors are checked when the site is built; a page links to nothing outside docs/, which the site has not got."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    inner = [link.partition("#")[0] for link in LINK.findall(text) if not re.match(r"https?:|#", link)]
    targets = [(page.parent / link).resolve() for link in inner]

    assert [str(target) for target in targets if not target.exists()] == []
    assert page.parent == ROOT or [str(target) for target in targets if not target.is_relative_to(DOCS)] == []


def test_files_in_pages_are_named_as_the_site_shows_them() -> None:
    """```json title="answers.jsonl"; with any other word the site would show the fence as text."""
    fences = {
        page.name: re.findall(r"^```+\w+ (?!title=\"\S+\"$).+$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for page in PAGES
    }

    assert {name: found for name, found in fences.items() if found} == {}


@pytest.mark.optin
def test_the_site_is_built_strictly_and_asks_nobody_for_anything(tmp_path: Path) -> None:
    builder = Path(sys.executable).parent / "zensical"
    if not builder.exists():
        pytest.skip("needs the extra `docs`")
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    done = subprocess.run([builder, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    built = list((tmp_path / "site").rglob("*.html"))
    assert len(built) >= len(PAGES)
    fetched = re.compile(r"(?:\bsrc|<link[^>]*\bhref)=[\"']?(?:https?:)?//[^\"'> ]+", re.IGNORECASE)
    assert [(page.name, found) for page in built for found in fetched.findall(page.read_text(encoding="utf-8"))] == []

    (tmp_path / "docs" / "broken.md").write_text("# Broken\n\n[nowhere](not-there.md)\n", encoding="utf-8")
    again = subprocess.run([builder, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode != 0
