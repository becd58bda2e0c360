"""The way of one sample, as docs/tour.md tells it."""

import re
import sys
from pathlib import Path
from types import FrameType

from mixseek.cli.main import main

ROOT = Path(__file__).parents[3]


def told_files() -> list[str]:
    """The numbered files of the tour's first section, in order."""
    section = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8").split("\n## ")[1]
    return re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)


def test_a_sample_takes_the_way_of_the_tour_to_its_verdict(tmp_path: Path) -> None:
    """At most eight files: whoever follows the list reads what is called, in the order of calling."""
    files = told_files()
    called: list[str] = []

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if called or event != "call" or frame.f_code.co_name != "decide":
            return
        step: FrameType | None = frame
        while step is not None:
            path = Path(step.f_code.co_filename)
            if ROOT / "src" in path.parents and (place := path.relative_to(ROOT).as_posix()) not in called:
                called.insert(0, place)
            step = step.f_back

    data = tmp_path / "answers.jsonl"
    data.write_text('{"id": "1", "response": "So the answer is (B).", "ground_truth": "(B)"}\n', encoding="utf-8")
    sys.setprofile(watch)
    try:
        code = main(["judge", str(data), "--workspace", str(tmp_path / "ws"), "--quiet"])
    finally:
        sys.setprofile(None)

    assert code == 0
    assert len(files) <= 8
    assert called[called.index(files[0]) :] == files
