"""What people say stands beside what judges say: in the list, in a sample, on a report's page, in an export."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import duckdb
import pytest
from tests.flows.running import write_jsonl
from tests.unit.web.test_views import rows_of
from tests.unit.web.viewing import Client, judge_rows, look

from mixseek.analysis.run.exported import export_rows
from mixseek.analysis.run.report import load_report
from mixseek.domain.labels import Label, text_digest
from mixseek.presentation.sections import Fitting, Link, Shaded, TableRows
from mixseek.reports.labels import corrected_sections
from mixseek.reports.pages.html import render_html
from mixseek.reports.pages.packed_rows import unpack_json
from mixseek.reports.run.trust import trust_sections
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

# The recorded judge contradicts the rules on these, and says nothing that can be read on those.
CONTRADICTED, UNREADABLE = (1, 2, 3, 4, 9), (10, 11)
RIGHT, WRONG = "correct", "incorrect"
LABELLED = 24
# Raters contradict each other on these; the second was settled.
DISPUTED, SETTLED = 20, 21
RECORDED = "replay:replies.jsonl"
LIST = "/api/runs/numbers/judgments?limit=1000"
Named = tuple[str, str]


def rules_say(number: int) -> str:
    return RIGHT if number % 3 else WRONG


def recorded_says(number: int) -> str | None:
    if number in UNREADABLE:
        return None
    return {RIGHT: WRONG, WRONG: RIGHT}[rules_say(number)] if number in CONTRADICTED else rules_say(number)


def people_say(number: int) -> str | None:
    """The rules are wrong on 3 and 6 and right on 1, 2 and 4; what is disputed is on neither side."""
    if number >= LABELLED:
        return None
    if number == DISPUTED:
        return "disputed"
    return RIGHT if number in (3, 6, SETTLED) else rules_say(number)


def labels_of(rows: tuple[dict[str, Any], ...]) -> Iterator[Label]:
    for number, row in enumerate(rows[:LABELLED]):
        text = text_digest(row["question"], row["response"], row["ground_truth"])
        given = [("mia", people_say(number) or RIGHT)]
        if number in (DISPUTED, SETTLED):
            given = [("mia", RIGHT), ("noah", WRONG), *([("ada", RIGHT)] if number == SETTLED else [])]
        for rater, verdict in given:
            yield Label(
                text=text, protocol="semantic", rater=rater, share=float(verdict == RIGHT), given=verdict,
                is_adjudicated=rater == "ada", sample=row["id"], run="numbers",
            )  # fmt: skip


def recorded_reply(number: int, *, is_right: bool) -> dict[str, str]:
    """What a judge answers that calls a row right or wrong."""
    reply = {
        "id": f"row-{number}", "extracted_answer": str(number + (1 if is_right else 2)), "is_correct": is_right,
        "reasoning_score": 5 if is_right else 3, "error_type": "none" if is_right else "wrong_logic",
        "comment": "Looked at closely.",
    }  # fmt: skip
    return {"id": f"row-{number}", "reply": json.dumps(reply)}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("labelled")
    rows = rows_of(40)
    said = []
    for number, row in enumerate(rows):
        verdict = recorded_says(number)
        unreadable = {"id": row["id"], "reply": "no JSON at all"}
        said.append(unreadable if verdict is None else recorded_reply(number, is_right=verdict == RIGHT))
    write_jsonl(place / "replies.jsonl", said)
    judge_rows(place, rows, "numbers", "--judge", RECORDED)
    LabelStore(Workspace(place / "ws")).append(list(labels_of(rows)))
    return place / "ws"


def expected(query: str) -> set[Named]:
    """By the verdicts that were planted."""
    found: set[Named] = set()
    for number in range(40):
        said = {"rules": rules_say(number), RECORDED: recorded_says(number)}
        people = people_say(number)
        for judge, verdict in said.items():
            other = said["rules" if judge == RECORDED else RECORDED]
            differ = None if None in (verdict, other) else "yes" if verdict != other else "no"
            is_settled = verdict is not None and people in (RIGHT, WRONG)
            facts = {
                f"people={people}",
                f"wrong={'yes' if verdict != people else 'no'}" if is_settled else "",
                f"differ={differ}",
                f"against={'rules' if judge == RECORDED else RECORDED}" if differ == "yes" else "",
                f"judge={judge}",
                f"verdict={verdict}",
            }
            if set(query.split("&")) <= facts:
                found.add((f"row-{number}", judge))
    return found


QUERIES = (
    "people=correct", "people=incorrect", "people=disputed", "wrong=yes", "wrong=no", "differ=yes", "differ=no",
    "against=rules", f"judge=rules&against={RECORDED}", "judge=rules&wrong=yes",
    f"judge={RECORDED}&verdict=correct&people=incorrect",
)  # fmt: skip


def test_filters_by_people_and_by_other_judges_list_what_was_planted(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for query in QUERIES:
            page = (await client.wait(f"{LIST}&{query}")).json
            listed = {(page["samples"][row["sample"]]["id"], row["judge"]) for row in page["rows"]}
            assert (query, listed) == (query, expected(query))
            assert page["matches"] == len(listed) > 0
        choices = (await client.wait("/api/runs/numbers/choices")).json["choices"]
        for name, words in (
            ("people", (RIGHT, WRONG, "disputed")),
            ("wrong", ("yes", "no")),
            ("differ", ("yes", "no")),
        ):
            assert dict(choices[name]) == {word: len(expected(f"{name}={word}")) for word in words}

    look(workspace, scenario)


def test_a_row_and_a_sample_say_what_people_say_and_who_they_are(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        page = (await client.wait(f"{LIST}&people=disputed")).json
        assert [row.get("wrong") for row in page["rows"]] == [None, None]
        assert page["samples"][0]["raters"] == [["mia", "correct"], ["noah", "incorrect"]]
        sample = (await client.wait("/api/runs/numbers/sample?id=row-3")).json
        assert (sample["samples"][0]["people"], sample["samples"][0]["differ"]) == ("correct", "yes")
        said = {row["judge"]: (row["wrong"], row["against"]) for row in sample["rows"]}
        assert said == {"rules": ("yes", [RECORDED]), RECORDED: ("no", ["rules"])}
        unlabelled = (await client.wait("/api/runs/numbers/sample?id=row-39")).json
        assert "people" not in unlabelled["samples"][0]

    look(workspace, scenario)


def test_the_page_of_a_report_narrows_as_the_viewer_does(workspace: Path) -> None:
    """The one asks columns in the file, the other a table: both hold what was planted."""
    page = render_html(load_report(workspace, "numbers")[0])
    blocks = re.findall(r'<script type="application/octet-stream"[^>]*>(.*?)</script>', page, re.DOTALL)
    index = unpack_json(blocks[-1])

    def held(name: str, place: int) -> list[str]:
        column = index["columns"][name]
        return list(column["values"][column["codes"][place]])

    for query in QUERIES:
        wanted = [part.split("=", 1) for part in query.split("&")]
        places = range(len(index["ids"]))
        listed = {
            (index["ids"][place], held("judge", place)[0])
            for place in places
            if all(value in held(name, place) for name, value in wanted)
        }
        assert (query, listed) == (query, expected(query))


def test_a_label_that_comes_or_goes_is_seen_at_the_next_look(workspace: Path, tmp_path: Path) -> None:
    store = LabelStore(Workspace(workspace))
    row = rows_of(40)[30]
    text = text_digest(row["question"], row["response"], row["ground_truth"])
    more = Label(text=text, protocol="semantic", rater="mia", share=1.0, given="correct", id="late-0001")
    before = store.path.read_bytes()

    async def scenario(client: Client) -> None:
        async def count(query: str) -> int:
            matches: int = (await client.wait(f"{LIST}&{query}")).json["matches"]
            return matches

        assert await count("people=correct&q=row-30") == 0
        try:
            store.append([more])
            assert await count("people=correct&q=row-30") == 2
            assert await count("wrong=yes&q=row-30") == 2
        finally:
            store.path.write_bytes(before)
        assert await count("people=correct&q=row-30") == 0

    look(workspace, scenario)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_narrowed_list_is_a_file_with_what_people_say(workspace: Path, tmp_path: Path, suffix: str) -> None:
    """Filters and search as the list has them, rows in the order of the dataset, and columns as in an export."""
    file = tmp_path / f"rows.{suffix}"

    async def scenario(client: Client) -> None:
        address = f"http://127.0.0.1:{client.server.port}/api/runs/numbers/judgments/file"
        known = {"Authorization": f"Bearer {client.server.access.secret}"}
        await client.wait(LIST)
        for query in ("", "wrong=yes", "wrong=yes&q=row-3", "people=nothing"):
            async with client.session.get(f"{address}?format={suffix}&{query}", headers=known) as answer:
                assert answer.status == 200
                assert f"numbers.{suffix}" in answer.headers["Content-Disposition"]
                file.write_bytes(await answer.read())
            with duckdb.connect() as connection:
                reader = {"csv": "read_csv('{}', all_varchar = true)", "jsonl": "read_json('{}', columns = {})"}
                columns = "{id: 'VARCHAR', judge: 'VARCHAR', people: 'VARCHAR', judge_is_wrong: 'VARCHAR'}"
                source = reader.get(suffix, "read_parquet('{}')").format(file, columns)
                rows = connection.execute(
                    f"SELECT id, judge, people, lower(judge_is_wrong::VARCHAR) FROM {source}"  # noqa: S608 - a test's own
                ).fetchall()
            listed = await client.wait_for_page(f"{LIST}&{query}")
            names = [(listed["samples"][row["sample"]]["id"], row["judge"]) for row in listed["rows"]]
            assert [row[:2] for row in rows] == names
            for name, _, people, is_wrong in rows:
                assert people == people_say(int(name.removeprefix("row-")))
                assert query[:9] != "wrong=yes" or is_wrong == "true"
        async with client.session.get(f"{address}?format=xlsx", headers=known) as refused:
            assert (refused.status, "there is jsonl, csv, parquet" in await refused.text()) == (400, True)

    look(workspace, scenario)


def test_an_export_holds_what_people_and_other_judges_say(workspace: Path, tmp_path: Path) -> None:
    export_rows(workspace, "numbers", tmp_path / "rows.jsonl")

    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    shares = {None: None, "disputed": None, RIGHT: 1.0, WRONG: 0.0}
    words = {None: None, True: "yes", False: "no"}
    assert len(rows) == 80
    for row in rows:
        named, people = (row["id"], row["judge"]), people_say(int(row["id"].removeprefix("row-")))
        assert (row["people"], row["people_share"]) == (people, shares[people])
        for name, column in (("wrong", "judge_is_wrong"), ("differ", "judges_differ")):
            said = {word for word in ("yes", "no") if named in expected(f"{name}={word}")}
            # Of a sample whose other judge was unusable nobody differs, and nobody agrees.
            assert {words[row[column]]} - {None} == said


def words_of(link: Link) -> str:
    return link.text if isinstance(link.text, str) else "".join(piece for piece, _ in link.text.styled)


def test_every_cell_of_a_matrix_leads_to_its_rows(workspace: Path) -> None:
    """A judge's to as many judgments as it says, the panel's to as many samples."""
    corrected = load_report(workspace, "numbers")[0].corrected
    assert corrected is not None
    tables = [
        part
        for section in corrected_sections(corrected)
        for part in section.parts
        if isinstance(part, TableRows) and part.name == "matrix confusion"
    ]
    links = [
        [cell.cell for row in table.rows for cell in row if isinstance(cell, Shaded) and isinstance(cell.cell, Link)]
        for table in tables
    ]
    shown = [{(link.filters.get("judge"), words_of(link)) for link in of_table} for of_table in links]
    # 3, 6 and 21 are right, and the rules say otherwise; the recorded judge accepts 9, which is wrong.
    assert len(tables) == 3
    assert ("rules", "3") in shown[1]
    assert (RECORDED, "1") in shown[2]

    async def scenario(client: Client) -> None:
        for of_table in links:
            for link in of_table:
                page = (await client.wait(f"{LIST}&{urlencode(link.filters)}")).json
                samples = {page["samples"][row["sample"]]["id"] for row in page["rows"]}
                assert (link.filters, f"{len(samples):,}") == (link.filters, words_of(link))
                assert "panel" in link.filters or page["matches"] == len(samples)

    look(workspace, scenario)


def test_two_judges_of_a_matrix_lead_to_where_they_differ(tmp_path: Path) -> None:
    rows = rows_of(12)
    for name, doubted in (("first", (1, 2, 4)), ("second", (1, 5))):
        said = [recorded_reply(number, is_right=(number % 3 > 0) is not (number in doubted)) for number in range(12)]
        write_jsonl(tmp_path / f"{name}.jsonl", said)
    judge_rows(tmp_path, rows, "three", "--judge", "replay:first.jsonl", "--judge", "replay:second.jsonl")
    agreement = load_report(tmp_path / "ws", "three")[0].agreement
    assert agreement is not None
    fittings = [
        part for section in trust_sections(agreement, (), None) for part in section.parts if isinstance(part, Fitting)
    ]
    cells = [cell.cell for row in fittings[0].table.rows for cell in row[1:] if isinstance(cell, Shaded)]
    links = [cell for cell in cells if isinstance(cell, Link)]
    differing: dict[frozenset[str | None], int] = {
        frozenset({"rules", "replay:first.jsonl"}): 3,
        frozenset({"rules", "replay:second.jsonl"}): 2,
        frozenset({"replay:first.jsonl", "replay:second.jsonl"}): 3,
    }

    async def scenario(client: Client) -> None:
        assert len(links) == 6
        for link in links:
            page = (await client.wait(f"/api/runs/three/judgments?{urlencode(link.filters)}")).json
            assert page["matches"] == differing[frozenset({link.filters["judge"], link.filters["against"]})]
            assert {row["judge"] for row in page["rows"]} == {link.filters["judge"]}

    look(tmp_path / "ws", scenario)
