"""Full-text search finds what a plain look at every sample finds, however it is cut into moments."""

import itertools
import json
import math
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.storage.journal import tail as search
from mixseek.storage.journal.tail import FoldedTexts, TextSearch, fold

TEXTS = st.lists(st.text(alphabet="abｂc ß\nカｶ\x1f", max_size=12), max_size=20)


def journal_of(texts: list[str], path: Path) -> Path:
    lines = [
        {"t": "sample", "key": "k", "sample": {"id": str(place), "response": text}} for place, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8")
    return path


@given(TEXTS, st.lists(st.text(alphabet="abcß カ", min_size=1, max_size=3), min_size=1, max_size=2))
def test_what_is_found_is_what_holds_all_words(texts: list[str], words: list[str]) -> None:
    asked = [word for word in fold(" ".join(words)).split() if word]
    if not asked:
        return
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        # So small that lines are longer than a block.
        patch.setattr(search, "_BLOCK_BYTES", 16)
        journal = journal_of(texts, Path(directory) / "journal.jsonl")
        found = TextSearch(FoldedTexts(journal, Path(directory) / "folded"), " ".join(words))
        found.advance(math.inf, len(texts))

        expected = [
            all(word in fold(f"{place}\x1f{text}") or word in str(place) for word in asked)
            for place, text in enumerate(texts)
        ]
        assert found.searched == len(texts)
        assert [bit == "1" for bit in found.bits(len(texts))[1:]] == expected


def test_a_search_goes_on_where_time_ran_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of the test's: every look at it is a hundredth of a second."""
    ticks = itertools.count()

    def look() -> float:
        return next(ticks) / 100

    journal = journal_of([f"word {place}" for place in range(3_000)], tmp_path / "journal.jsonl")
    texts = FoldedTexts(journal, tmp_path / "folded")
    found = TextSearch(texts, "word 29")
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=look))
    monkeypatch.setattr(search, "_BLOCK_BYTES", 4_096)

    found.advance(look() - 1, 3_000)
    before = found.searched
    steps = 0
    while found.searched < 3_000:
        found.advance(look() + 0.06, 3_000)
        steps += 1
        assert steps < 30_000

    assert before == 0
    assert steps > 1
    assert found.bits(3_000).count("1") == sum("29" in str(place) for place in range(3_000))


def test_a_search_does_not_give_up_where_moments_go_by_without_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a starved machine, where every look at the clock is a second: the time that is allowed is not over."""
    ticks = itertools.count()
    journal = journal_of([f"word {place}" for place in range(300)], tmp_path / "journal.jsonl")
    found = TextSearch(FoldedTexts(journal, tmp_path / "folded"), "word 29")
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    monkeypatch.setattr(search, "_BLOCK_BYTES", 1_024)

    found.advance(math.inf, 300)

    assert found.searched == 300
