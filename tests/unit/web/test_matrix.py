"""Questions down, targets or judges or runs across: each cell, filter and order against the list of the same run."""

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any
from urllib.parse import quote

import pytest
from tests.flows.running import mixseek_here, write_jsonl
from tests.unit.domain.test_response_states import REASONS, TEXTS
from tests.unit.web.viewing import Client, judge_rows, look

from mixseek.cli.terminal.console import ExitCode
from mixseek.datasets.endings import state_of_sample
from mixseek.domain.judgments import Status
from mixseek.domain.response_states import ResponseState
from mixseek.setup.demo import run_example, unpack_files
from mixseek.storage.journal.tail import TextSearches
from mixseek.web import matrix

Cells = Mapping[str | None, dict[str, Any]]
QUESTIONS, TARGETS = 9, ("cedar-10", "cedar-2", "aster")
# A sample that names no question, and one that names no target.
ALONE = {"id": "alone", "response": "So the answer is 4.", "ground_truth": "4", "target_model": "aster"}
NAMELESS = {
    "id": "nameless",
    "question": "3+3?",
    "response": "It is 6.",
    "ground_truth": "6",
    "question_id": "Q-nameless",
}


def rows_of_matrix(shift: int = 0) -> list[dict[str, Any]]:
    """Some right and some wrong, Q4 wrong for all, one that rules do not decide, and two that were cut off."""
    rows: list[dict[str, Any]] = []
    for number, (place, target) in itertools.product(range(QUESTIONS), enumerate(TARGETS)):
        answer = number + (1 if (number * 3 + place + shift) % 4 and number != 4 else 2)
        rows.append(
            {
                "id": f"q{number}-{target}",
                "question": f"What is {number} + 1?",
                "response": f"So the answer is {answer}.",
                "ground_truth": str(number + 1),
                "question_id": f"Q{number}",
                "target_model": target,
            }
        )
    rows[1]["response"] = "Either 1 or 7."
    rows[7]["response"] = "<think>First I add"
    rows[11]["metadata"] = {"finish_reason": "length"}
    return [*rows, ALONE, NAMELESS]


def replies_to(rows: list[dict[str, Any]]) -> str:
    """A judge that finds most things right; one reply cannot be read, and one is not there."""
    lines = []
    for number, row in enumerate(rows):
        said = {"is_correct": bool(number % 5), "reasoning_score": 4 if number % 5 else 2, "extracted_answer": "1"}
        said |= {"error_type": "none" if number % 5 else "wrong_logic", "comment": "As it stands.", "id": 1}
        text = "no JSON at all" if number == 4 else json.dumps(said)
        lines += [] if number == 8 else [json.dumps({"id": row["id"], "reply": text}) + "\n"]
    return "".join(lines)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("matrix")
    rows = rows_of_matrix()
    (root / "replies.jsonl").write_text(replies_to(rows), encoding="utf-8")
    data = write_jsonl(root / "first.jsonl", rows)
    judges = ("--judge", "rules", "--judge", "replay:replies.jsonl")
    done = mixseek_here("judge", data, *judges, "--workspace", "ws", "--run", "first", "-q", cwd=root)
    assert done.returncode == ExitCode.INCOMPLETE, done.stderr
    judge_rows(root, tuple(rows_of_matrix(shift=1)), "second")
    return root / "ws"


def cells_from_list(page: Mapping[str, Any], across: str) -> dict[str, Cells]:
    """The same cells, made of the judgments that the list of the run shows; questions in the order of the dataset."""
    judged: dict[str, dict[str | None, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in page["rows"]:
        sample = page["samples"][row["sample"]]
        place = row["judge"] if across == "judge" else sample.get("model")
        judged[sample.get("qid") or sample["id"]][place].append({**row, "cut_off": "cut_off" in sample})
    return {name: {place: cell_of(rows) for place, rows in cells.items()} for name, cells in judged.items()}


def cell_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    scores = [row["score"] for row in rows if row["score"] is not None]
    verdicts = {row["verdict"] for row in rows if row["status"] == "valid"}
    cell: dict[str, Any] = {"valid": len(scores), "mean": round(fmean(scores), 9) if scores else None}
    counted = {name: sum(row["status"] == name for row in rows) for name in ("undecided", "invalid", "missing")}
    counted |= {"right": scores.count(1), "cut_off": any(row["cut_off"] for row in rows)}
    cell |= {name: count for name, count in counted.items() if count}
    return cell | ({"verdict": verdicts.pop()} if len(verdicts) == 1 else {})


def differ(cells: Cells) -> bool:
    return len(set(means_of(cells))) > 1


def all_wrong(cells: Cells) -> bool:
    return all(cell["mean"] == 0 and not {"undecided", "invalid", "missing"} & set(cell) for cell in cells.values())


def cut_off(cells: Cells) -> bool:
    return any("cut_off" in cell for cell in cells.values())


def means_of(cells: Cells) -> list[float]:
    return [cell["mean"] for cell in cells.values() if cell["mean"] is not None]


FILTERS: dict[str, Callable[[Cells], bool]] = {
    "": lambda cells: True,
    "differ": differ,
    "all_wrong": all_wrong,
    "cut_off": cut_off,
}
ORDERS: dict[str, Callable[[Cells], float]] = {
    "": lambda cells: 0,
    "disagreement": lambda cells: -round(pvariance(means_of(cells) or [0.0]), 9),
    "difficulty": lambda cells: fmean(means_of(cells) or [9.0]),
}


@pytest.mark.parametrize("across", ["target", "judge"])
@pytest.mark.parametrize("narrowed", ["", "judge=rules", "target=aster"])
def test_cells_filters_and_orders_are_those_of_the_list(workspace: Path, across: str, narrowed: str) -> None:
    async def scenario(client: Client) -> None:
        listed = await client.wait_for_page(f"/api/runs/first/judgments?limit=1000&{narrowed}")
        expected = cells_from_list(listed, across)
        assert len(expected) > QUESTIONS / 2
        for shown, sort in itertools.product(FILTERS, ORDERS):
            names = [name for name, cells in expected.items() if FILTERS[shown](cells)]
            names.sort(key=lambda name: ORDERS[sort](expected[name]))
            asked = f"across={across}&filter={shown}&sort={sort}&{narrowed}"
            page = (await client.wait(f"/api/runs/first/matrix?{asked}")).json
            places = [column["value"] for column in page["columns"]]
            cells = {
                row["question"] or row["id"]: {
                    place: cell for place, cell in zip(places, row["cells"], strict=True) if cell is not None
                }
                for row in page["rows"]
            }
            assert (asked, list(cells)) == (asked, names)
            assert cells == {name: expected[name] for name in names}
            assert page["matches"] == page["counts"][shown or "all"] == len(names)

    look(workspace, scenario)


WORDS = ("What is 3", "cedar-10 answer", "as it stands", "nowhere at all", "ＡＳＴＥＲ q2", " ")
MATRICES = (
    ("/api/runs/first/matrix?across=judge", ("first",)),
    ("/api/compare/matrix?run=first&run=second", ("first", "second")),
)


async def questions_with(client: Client, runs: tuple[str, ...], query: str) -> set[str]:
    """The questions of the judgments that the lists of these runs hold."""
    names = set()
    for run in runs:
        listed = await client.wait_for_page(f"/api/runs/{run}/judgments?limit=1000&{query}")
        samples = [listed["samples"][row["sample"]] for row in listed["rows"]]
        names |= {sample.get("qid") or sample["id"] for sample in samples}
    return names


@pytest.mark.parametrize("narrowed", ["", "judge=rules", "target=aster"])
def test_a_search_leaves_the_questions_of_what_it_finds_whole(workspace: Path, narrowed: str) -> None:
    """Every filter and every order with all words, and each pair of filter and order with two of them."""

    async def scenario(client: Client) -> None:
        for path, runs in MATRICES:
            whole = {
                (shown, sort): (await client.wait(f"{path}&filter={shown}&sort={sort}&{narrowed}")).json
                for shown, sort in itertools.product(FILTERS, ORDERS)
            }
            for turn, words in enumerate(WORDS):
                expected = await questions_with(client, runs, f"q={quote(words)}&{narrowed}")
                orders = itertools.islice(itertools.cycle(ORDERS), turn, None)
                for shown, sort in zip(FILTERS, orders, strict=False):
                    asked = f"{path}&filter={shown}&sort={sort}&{narrowed}&q={quote(words)}"
                    page, everything = (await client.wait(asked)).json, whole[shown, sort]
                    rows = [row for row in everything["rows"] if (row["question"] or row["id"]) in expected]
                    assert page["matches"] == len(rows) == page["counts"][shown or "all"], asked
                    # A column in which none of them has a cell is not shown.
                    assert [cells_of(page, row) for row in page["rows"]] == [cells_of(everything, row) for row in rows]
                assert (len(expected) == whole["", ""]["matches"]) == (words == " ")

    look(workspace, scenario)


def cells_of(page: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[str, dict[str | None, dict[str, Any]]]:
    """The name of a question, and its cells by column."""
    places = [column["value"] for column in page["columns"]]
    cells = {place: cell for place, cell in zip(places, row["cells"], strict=True) if cell is not None}
    return row["question"] or row["id"], cells


def test_a_search_that_goes_on_says_how_far_it_has_come(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of half a search would come and go under a reader's eyes."""

    async def scenario(client: Client) -> None:
        await client.wait("/api/runs/first/matrix")
        with monkeypatch.context() as patched:
            patched.setattr(TextSearches, "go_on", lambda *_: None)
            for path in ("/api/runs/first/matrix?q=tea", "/api/compare/matrix?run=first&run=second&q=tea"):
                while "search" not in (answer := await client.ask(path)).json:
                    assert answer.status == 202
                assert answer.status == 202
                assert answer.json["search"] == {"searched": 0, "samples": 29 if "runs/" in path else 58}

    look(workspace, scenario)


def test_graded_runs_are_filtered_sorted_and_searched_side_by_side(tmp_path: Path) -> None:
    """Two judges of the same outputs, each in a run of its own, on a scale between right and wrong."""
    unpack_files(tmp_path / "ws")
    names = [run_example(tmp_path / "ws", "cross", (judge,)) for judge in ("aster-1", "cedar-7")]

    async def scenario(client: Client) -> None:
        runs = [run["run"] for run in (await client.wait("/api/workspace")).json["runs"]]
        assert len(runs) == len(names) == 2
        across: dict[str, Cells] = defaultdict(dict)
        for run in runs:
            listed = await client.wait_for_page(f"/api/runs/{run}/judgments?control=no&limit=1000")
            for row in listed["rows"]:
                row["judge"] = run
            for question, cells in cells_from_list(listed, "judge").items():
                across[question] = {**across[question], **cells}
        path = f"/api/compare/matrix?run={runs[0]}&run={runs[1]}&control=no"
        assert (await client.wait(path)).json["is_graded"]
        for shown, sort in itertools.product(FILTERS, ORDERS):
            page = (await client.wait(f"{path}&filter={shown}&sort={sort}")).json
            known = [question for question, cells in across.items() if FILTERS[shown](cells)]
            order = [ORDERS[sort](across[row["question"]]) for row in page["rows"]]
            assert {row["question"] for row in page["rows"]} == set(known), shown
            assert order == sorted(order)
        assert (await client.wait(f"{path}&filter=differ")).json["matches"] > 0

    look(tmp_path / "ws", scenario)


def test_the_material_has_a_row_for_every_filter_and_every_kind_of_cell(workspace: Path) -> None:
    """Else the test above could not fail."""

    async def scenario(client: Client) -> None:
        page = (await client.wait("/api/runs/first/matrix?judge=rules")).json
        assert not page["is_graded"]
        assert page["counts"] == {"all": 11, "differ": 6, "all_wrong": 1, "cut_off": 2}
        kinds = {kind for row in page["rows"] for cell in row["cells"] if cell for kind in cell}
        judges = (await client.wait("/api/runs/first/matrix?across=judge")).json
        kinds |= {kind for row in judges["rows"] for cell in row["cells"] if cell for kind in cell}
        assert kinds == {"valid", "right", "mean", "verdict", "undecided", "invalid", "missing", "cut_off"}

    look(workspace, scenario)


def test_columns_stand_in_natural_order_judges_as_the_run_names_them(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        targets = (await client.wait("/api/runs/first/matrix")).json
        assert [column["value"] for column in targets["columns"]] == ["aster", "cedar-2", "cedar-10", None]
        assert targets["choices"] == ["target", "judge"]
        judges = (await client.wait("/api/runs/first/matrix?across=judge")).json
        assert [column["value"] for column in judges["columns"]] == ["rules", "replay:replies.jsonl"]
        assert judges["narrowing"]["judge"] == [["replay:replies.jsonl", 29], ["rules", 29]]

    look(workspace, scenario)


def test_pages_of_every_order_are_the_whole_matrix(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for sort, path in itertools.product(
            ORDERS, ("/api/runs/first/matrix?", "/api/compare/matrix?run=first&run=second&")
        ):
            whole = (await client.wait(f"{path}sort={sort}")).json
            pages = [(await client.wait(f"{path}sort={sort}&offset={at}&limit=4")).json for at in range(0, 12, 4)]
            assert [row for page in pages for row in page["rows"]] == whole["rows"]
            assert {page["matches"] for page in pages} == {11}

    look(workspace, scenario)


def test_rows_show_what_was_asked(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        page = (await client.wait("/api/runs/first/matrix?sort=difficulty")).json
        gists = {row["question"] or row["id"]: row["gist"] for row in page["rows"]}
        expected = {f"Q{number}": f"What is {number} + 1?" for number in range(QUESTIONS)}
        assert gists == {**expected, "alone": "", "Q-nameless": "3+3?"}

    look(workspace, scenario)


def test_runs_stand_beside_each_other_question_by_question(workspace: Path) -> None:
    """Each column is the run's own matrix, brought to one cell a question."""

    async def scenario(client: Client) -> None:
        page = (await client.wait("/api/compare/matrix?run=second&run=first&judge=rules")).json
        assert [column["value"] for column in page["columns"]] == ["second", "first"]
        for place, run in enumerate(("second", "first")):
            alone = (await client.wait(f"/api/runs/{run}/matrix?across=judge&judge=rules")).json
            assert [(row["question"], row["cells"][place]) for row in page["rows"]] == [
                (row["question"], row["cells"][0]) for row in alone["rows"]
            ]
        differing = (await client.wait("/api/compare/matrix?run=second&run=first&judge=rules&filter=differ")).json
        assert 0 < differing["matches"] < page["matches"]

    look(workspace, scenario)


def test_a_page_is_asked_for_by_a_question_that_is_on_it(workspace: Path) -> None:
    """So a link opens the cell that it names, however the rows are sorted and narrowed."""

    async def scenario(client: Client) -> None:
        for path in ("/api/runs/first/matrix?", "/api/compare/matrix?run=first&run=second&"):
            for sort in ORDERS:
                whole = (await client.wait(f"{path}sort={sort}")).json
                assert "place" not in whole
                for place, row in enumerate(whole["rows"]):
                    name = row["question"] or row["id"]
                    page = (await client.wait(f"{path}sort={sort}&limit=4&row={name}")).json
                    assert (page["place"], page["offset"]) == (place, place // 4 * 4)
                    assert page["rows"] == whole["rows"][page["offset"] : page["offset"] + 4]
            nowhere = (await client.wait(f"{path}filter=all_wrong&offset=1&row=Q0")).json
            assert (nowhere["place"], nowhere["offset"]) == (None, 1)

    look(workspace, scenario)


def test_several_runs_are_narrowed_by_what_their_judgments_differ_in(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        path = "/api/compare/matrix?run=first&run=second"
        page = (await client.wait(path)).json
        assert set(page["narrowing"]) == {"judge", "target"}
        assert dict(page["narrowing"]["judge"]) == {"rules": 58, "replay:replies.jsonl": 29}
        assert page["labels"] == {"rules": "rules", "replay:replies.jsonl": "replay:replies.jsonl"}
        for name, values in page["narrowing"].items():
            for value, count in values:
                narrowed = (await client.wait(f"{path}&{name}={value}")).json
                cells = [cell for row in narrowed["rows"] for cell in row["cells"] if cell]
                judged = sum(cell.get(status, 0) for cell in cells for status in Status)
                assert (name, value, judged) == (name, value, count)

    look(workspace, scenario)


def test_a_model_on_its_own_output_is_shown_and_in_no_count(tmp_path: Path) -> None:
    unpack_files(tmp_path / "ws")
    run_example(tmp_path / "ws", "cross", ("aster-1", "cedar-7"))

    async def scenario(client: Client) -> None:
        (run,) = (await client.wait("/api/workspace")).json["runs"]
        path = f"/api/runs/{run['run']}"
        controls = (await client.wait_for_page(f"{path}/judgments?control=yes&limit=1000"))["matches"]
        others = (await client.wait_for_page(f"{path}/judgments?control=no&status=valid&limit=1000"))["matches"]
        page = (await client.wait(f"{path}/matrix?across=judge")).json
        cells = [cell for row in page["rows"] for cell in row["cells"] if cell]
        assert sum(cell.get("controls", 0) for cell in cells) == controls > 0
        assert sum(cell["valid"] for cell in cells) == others
        assert page["is_graded"]
        alone = (await client.wait(f"{path}/matrix?across=judge&control=yes")).json
        assert {cell["mean"] for row in alone["rows"] for cell in row["cells"] if cell} == {None}

    look(tmp_path / "ws", scenario)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("runs/first/matrix?across=moon", "across=moon"),
        ("runs/first/matrix?across=run", "across=run"),
        ("runs/first/matrix?filter=same", "filter=same"),
        ("runs/first/matrix?sort=lowest", "sort=lowest"),
        ("runs/first/matrix?offset=-1", "offset=-1"),
        ("runs/first/matrix?limit=501", "limit=501"),
        ("compare/matrix?run=first&run=first", "2 to 8"),
        ("compare/matrix?run=first&run=second&across=target", "across=target"),
    ],
)
def test_what_has_no_meaning_is_one_sentence(workspace: Path, path: str, said: str) -> None:
    async def scenario(client: Client) -> None:
        answer = await client.wait(f"/api/{path}")
        nobody = await client.wait("/api/compare/matrix?run=first&run=nobody")
        assert answer.status == 400
        assert said in answer.json["error"]
        assert (nobody.status, "nobody" in nobody.json["error"]) == (404, True)

    look(workspace, scenario)


def test_of_a_pair_each_target_has_a_cell_with_what_the_judgment_says_of_it(tmp_path: Path) -> None:
    unpack_files(tmp_path / "ws")
    files = ("ws/pairs.jsonl", "--judge", "replay:ws/pairs_replies.jsonl")
    done = mixseek_here("judge", *files, "--protocol", "pairwise", "--workspace", "ws", "--run", "pairs", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr

    async def scenario(client: Client) -> None:
        listed = await client.wait_for_page("/api/runs/pairs/judgments?limit=1000")
        points: dict[str, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(list))
        for row in listed["rows"]:
            sample, score = listed["samples"][row["sample"]], row["score"]
            points[sample["qid"]][sample["model"]].append(score)
            points[sample["qid"]][sample["model_b"]].append(None if score is None else 1 - score)
        page = (await client.wait("/api/runs/pairs/matrix")).json
        assert (page["across"], page["is_paired"]) == ("target", True)
        names = [column["value"] for column in page["columns"]]
        assert sorted(names) == sorted({name for cells in points.values() for name in cells})
        for row in page["rows"]:
            for name, cell in zip(names, row["cells"], strict=True):
                known = [point for point in points[row["question"]][name] if point is not None]
                assert cell["mean"] == round(fmean(known), 9)
                assert (cell["valid"], cell.get("right", 0)) == (len(known), known.count(1))
                assert cell["valid"] + cell.get("undecided", 0) == len(points[row["question"]][name])
                words = {{1: "won", 0: "lost", 0.5: "tied"}[point] for point in known}
                assert cell.get("verdict") == (words.pop() if len(words) == 1 else None)
        # What one of two comes to, the other one does not: all points of a question are shared out.
        sums = [sum(cell["mean"] * cell["valid"] for cell in row["cells"]) for row in page["rows"]]
        assert sums == pytest.approx([sum(cell["valid"] for cell in row["cells"]) / 2 for row in page["rows"]])
        judges = (await client.wait("/api/runs/pairs/matrix?across=judge")).json
        assert not judges["is_paired"]

    look(tmp_path / "ws", scenario)


def test_more_columns_than_a_page_can_hold_are_counted(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "_MOST_COLUMNS", 2)

    async def scenario(client: Client) -> None:
        page = (await client.wait("/api/runs/first/matrix")).json
        assert [column["value"] for column in page["columns"]] == ["aster", "cedar-2"]
        assert page["columns_total"] == 4
        assert {len(row["cells"]) for row in page["rows"]} == {2}

    look(workspace, scenario)


@pytest.mark.parametrize(("language", "words"), [("ja", "難しい順"), ("zh", "最难在前"), ("en", "hardest first")])
def test_its_pages_speak_the_reader_s_language_and_are_led_to(workspace: Path, language: str, words: str) -> None:
    async def scenario(client: Client) -> None:
        for page in ("/runs/first/matrix", "/compare/matrix?run=first&run=second"):
            joint = "&" if "?" in page else "?"
            answer = await client.wait(f"{page}{joint}lang={language}")
            assert answer.status == 200
            assert words in answer.text
        run = await client.wait("/runs/first")
        compared = await client.wait("/compare?a=first&b=second")
        assert "/runs/first/matrix" in run.text
        assert "/compare/matrix?run=first&amp;run=second" in compared.text

    look(workspace, scenario)


def ended_rows() -> list[dict[str, Any]]:
    """Samples that ended in every way: by each spelling of a reason, by their texts, and by what the data say."""
    ends: list[tuple[str, dict[str, Any]]] = [("So 4.", {"finish_reason": reason}) for _, reason, _ in REASONS]
    ends += [(text, {}) for text, _ in TEXTS]
    ends += [("So 4.", {"response_state": word}) for word in (*ResponseState, "CUT-OFF", "moon")]
    ends += [("So 4.", {"finish_reason": ["length"]}), ("So 4.", {"doneReason": "length", "stopReason": "SAFETY"})]
    ends += [("So 4.", {"stop_reason": "end_turn", "finish_reason": "length"}), ("", {"response_error": "it is down"})]
    ends += [("", {"response_error": "it stopped", "stop_reason": "SAFETY"})]
    return [
        {"id": f"e{number}", "response": text, "ground_truth": "4", "metadata": metadata}
        for number, (text, metadata) in enumerate(ends)
    ]


def test_the_index_and_a_row_know_alike_how_a_response_ended(tmp_path: Path) -> None:
    """The rule stands in `domain.response_states`; the index asks it in SQL."""
    rows = ended_rows()
    judge_rows(tmp_path, tuple(rows), "endings")
    expected = {
        state.value: [row["id"] for row in rows if state_of_sample(row) is state]
        for state in (ResponseState.CUT_OFF, ResponseState.WITHHELD, ResponseState.EMPTY)
    }

    async def scenario(client: Client) -> None:
        page = (await client.wait("/api/runs/endings/matrix?filter=cut_off")).json
        assert [row["id"] for row in page["rows"]] == expected["cut_off"]
        listed = await client.wait_for_page("/api/runs/endings/judgments")
        choices = (await client.wait("/api/runs/endings/choices")).json["choices"]
        for state, ids in expected.items():
            others = [row["id"] for row in rows if row["id"] not in ids]
            assert [sample["id"] for sample in listed["samples"] if state in sample] == ids
            for word, names in (("yes", ids), ("no", others)):
                narrowed = await client.wait_for_page(f"/api/runs/endings/judgments?{state}={word}")
                assert [sample["id"] for sample in narrowed["samples"]] == names
            assert dict(choices[state]) == {"yes": len(ids), "no": len(others)}

    look(tmp_path / "ws", scenario)
