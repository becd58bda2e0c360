"""JSON is a contract: what commands said of twenty runs they say today; keys are added, never renamed.

`python -m tests.flows.test_documents` writes the documents anew; whoever does so reads the difference first.
"""

import functools
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.flows.document_material import (
    COMPARISONS,
    DEMO_WORKSPACE,
    RUNS,
    WORKSPACE,
    Printed,
    ask,
    asked_once,
    differences,
    first_sample,
    make_runs,
    place_of_demo,
    place_of_runs,
    run_demo_twice,
    write_tables,
)
from tests.flows.running import mixseek_here, read_jsonl

GOLDEN = Path(__file__).parents[1] / "golden" / "documents"
# What is another one each time, or names the rules of the day; so do runs that nobody named.
_VOLATILE = {
    *("started_at", "ended_at", "timestamp", "judged_at", "created", "seconds", "elapsed_seconds", "bytes", "duration"),
    *("protocol_hash", "matcher", "digest", "draws", "fingerprint", "version", "mixseek_version", "size", "id_of_draw"),
}
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+(?:\+00:00|Z| UTC)?|\bd[0-9a-f]{8}\b|(?<=-)[0-9a-f]{8}\b")


def asked_of(place: Path, run: str) -> Mapping[str, tuple[str, ...]]:
    """What a person can ask about a run; each prints one document."""
    return {
        "report": ("report", run),
        "stats": ("stats", run),
        "show": ("show", run, first_sample(place, run)),
        "leaderboard": ("leaderboard", run),
        "plan": ("label", "plan", run),
    }


def document_in(printed: Printed, place: Path) -> Any:
    """The document, or the code and the line where there is none."""
    if not printed.out:
        return {"exit": printed.code, "line": settle(printed.err, place)}
    return settle({"exit": printed.code, "document": json.loads(printed.out)}, place)


def document_of(place: Path, *words: str) -> Any:
    return document_in(ask(place, *words), place)


def exported(place: Path, run: str) -> Any:
    mixseek_here("export", run, "--to", f"{run}.rows.jsonl", "-w", WORKSPACE, cwd=place)
    return settle(read_jsonl(place / f"{run}.rows.jsonl")[:3], place)


def settle(value: Any, place: Path) -> Any:
    """Without what is another each time, with numbers to ten digits: the last ones are the machine's."""
    match value:
        case dict():
            return {key: "…" if key in _VOLATILE and item is not None else settle(item, place)
                    for key, item in value.items()}  # fmt: skip
        case list():
            return [settle(item, place) for item in value]
        case float():
            return float(f"{value:.10g}")
        case str():
            return _TIME.sub("…", value.replace(str(place), "…"))
    return value


def documents_of(place: Path, run: str, ask: Callable[..., Printed]) -> Any:
    """All that commands say of a run."""
    judged = json.loads((place / f"{run}.judged.json").read_text(encoding="utf-8"))
    asked = {name: document_in(ask(*words), place) for name, words in asked_of(place, run).items()}
    return {"judge": settle(judged, place), "export": exported(place, run), **asked}


def other_documents(place: Path, demo_place: Path) -> Iterator[tuple[str, Any]]:
    """Of several runs, of tables, of the workspace and of the demo, by the name of the file that keeps them."""
    yield "comparisons", {name: document_of(place, "compare", *words) for name, words in COMPARISONS.items()}
    yield "tables", {name: document_of(place, *words) for name, words in write_tables(place).items()}
    side_by_side = ("report", "sem-plain", "sem-later")
    workspace = {"runs": ("runs",), "label status": ("label", "status"), "side by side": side_by_side}
    yield "workspace", {name: document_of(place, *words) for name, words in workspace.items()}
    demo = Printed(0, (demo_place / "told.json").read_text(encoding="utf-8"), "")
    board = ask(demo_place, "leaderboard", "salty-sea", workspace=DEMO_WORKSPACE)
    named = {"demo": demo, "competition": board}
    # Under the name of the workspace that is kept.
    printed = {name: replace(said, out=said.out.replace(DEMO_WORKSPACE, WORKSPACE)) for name, said in named.items()}
    yield "demo", {name: document_in(said, demo_place) for name, said in printed.items()}


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("run", RUNS)
def test_every_document_of_a_run_says_what_it_said(tmp_path_factory: pytest.TempPathFactory, run: str) -> None:
    now = documents_of(place_of_runs(tmp_path_factory), run, functools.partial(asked_once, tmp_path_factory))
    lost = list(differences(golden(run), now, run))
    assert not lost, "\n".join(lost[:40])


def test_every_other_document_says_what_it_said(tmp_path_factory: pytest.TempPathFactory) -> None:
    others = other_documents(place_of_runs(tmp_path_factory), place_of_demo(tmp_path_factory))
    lost = [line for name, now in others for line in differences(golden(name), now, name)]
    assert not lost, "\n".join(lost[:40])


def test_every_document_that_is_kept_is_asked_for() -> None:
    others = {"comparisons", "demo", "tables", "workspace"}
    assert {path.stem for path in GOLDEN.glob("*.json")} == {*RUNS, *others}


def test_a_key_that_is_gone_and_a_number_that_moved_are_named_and_a_new_key_is_not() -> None:
    before = {"mean": 0.5, "judges": [{"name": "ada"}], "old": 1}
    now = {"mean": 0.6, "judges": [{"name": "ada", "new": 2}]}
    assert list(differences(before, now)) == [".mean: 0.5 before, 0.6 now", ".old is gone"]


def freeze() -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        make_runs(place)
        (place / "demo").mkdir()
        run_demo_twice(place / "demo")
        shutil.rmtree(GOLDEN, ignore_errors=True)
        GOLDEN.mkdir(parents=True)
        asking = functools.partial(ask, place)
        asked = itertools.chain(
            ((run, documents_of(place, run, asking)) for run in RUNS), other_documents(place, place / "demo")
        )
        for name, found in asked:
            text = json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True)
            (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    freeze()
