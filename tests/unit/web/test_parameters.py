"""Every address of the viewer refuses what has no meaning: with 400 and one line, in the letters of whoever asked."""

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.unit.web.viewing import Answer, Client, answer_rows, judge_rows, look

from mixseek.web.server import ROUTES

Values = tuple[str, ...]
ANY: Values = ()  # whatever is written there is looked for
YES_OR_NO: Values = ("Maybe", "YES")
NUMBER: Values = ("-1", "Ten", "1e3", "٣", "9" * 5_000)
FILTERS: Mapping[str, Values] = {
    **dict.fromkeys(("verdict", "judge", "task", "target", "variant", "question", "gate", "quote", "error"), ANY),
    **dict.fromkeys(("warning", "reasoning", "rule", "flag", "people", "against", "panel"), ANY),
    **dict.fromkeys(("control", "cut_off", "withheld", "empty", "unverified", "wrong", "differ"), YES_OR_NO),
    "status": ("Valid", "right"),
}
NARROWING: Mapping[str, Values] = {**FILTERS, "q": ANY, "meta": ("Language",)}
LISTING: Mapping[str, Values] = {
    **NARROWING,
    **dict.fromkeys(("id", "by"), ANY),
    "sort": ("Newest", "moon"),
    "offset": NUMBER,
    "limit": (*NUMBER, "0", "1001"),
    "repeat": (*NUMBER, "0"),
    "as_of": NUMBER,
}
MATRIX: Mapping[str, Values] = {
    **FILTERS,
    "row": ANY,
    "q": ANY,
    "across": ("Judge", "run"),
    "filter": ("Differ",),
    "sort": ("Hardest", "lowest"),
    "offset": NUMBER,
    "limit": (*NUMBER, "0", "501"),
}
ANSWERS: Mapping[str, Values] = {
    "state": ("Finished",),
    "target": ("Nobody",),
    "variant": ("Z",),
    "q": ANY,
    "columns": ("0", "2", "1,1", "Ten"),
    "offset": NUMBER,
    "limit": (*NUMBER, "0", "101"),
}
RATER: Values = ("A\u202eB", "x" * 2_000)
COMPARED: Mapping[str, Values] = {"a": ANY, "b": ANY, "target": ANY, "variant": ANY}
TWO = "a=tea&b=oolong"
# What each address may say; the values are those that it refuses.
TABLE: Mapping[str, Mapping[str, Values]] = {
    "/": {"q": ANY, "protocol": ANY, "dataset": ANY},
    "/runs/tea/sample": {"id": ANY},
    "/runs/tea/review": {"queue": ANY, "rater": ANY},
    "/compare": {**COMPARED, "start": NUMBER, "kind": ("Worse",)},
    "/compare/matrix": {"run": ANY},
    "/answers/spring": {**ANSWERS, "marked": ("0", "1", "1,1", "Ten")},
    "/api/runs/tea/judgments": LISTING,
    "/api/runs/tea/judgments/file": {**NARROWING, "format": ("CSV", "xlsx")},
    "/api/runs/tea/sample": {"id": ANY},
    "/api/runs/tea/prompt": {"id": ANY, "judge": ANY},
    "/api/runs/tea/matrix": MATRIX,
    "/api/runs/tea/review": {"rater": RATER},
    "/api/runs/tea/review/queue": {"queue": ("Disputes", "moon"), "rater": RATER},
    "/api/runs/tea/review/item": {"queue": ANY, "text": ANY, "rater": RATER, "open": YES_OR_NO},
    "/api/runs/tea/review/numbers": {"width": ("Wide", "nan", "0", "0.5", "-0.1", "inf")},
    "/api/runs/tea/review/link": {"rater": RATER, "queue": ANY},
    "/api/answers/spring/questions": ANSWERS,
    "/api/answers/spring/answer": dict.fromkeys(("number", "column", "repeat"), (*NUMBER, "0")),
    "/api/compare": COMPARED,
    "/api/compare/matrix": {**MATRIX, "across": ("Judge", "target"), "run": ANY},
}
# What must be there for the rest of an address to be looked at.
NEEDED: Mapping[str, str] = {
    "/compare": TWO,
    "/api/compare": TWO,
    "/compare/matrix": "run=tea&run=oolong",
    "/api/compare/matrix": "run=tea&run=oolong",
    "/api/runs/tea/review/queue": "queue=undecided",
    "/api/runs/tea/review/item": "text=0",
    "/api/runs/tea/review/link": "rater=mia",
    "/api/answers/spring/answer": "number=1&column=1",
}
SEVERAL = {"/compare": {"target", "variant"}, "/api/compare": {"target", "variant"}}
SEVERAL |= {"/compare/matrix": {"run"}, "/api/compare/matrix": {"run"}}
# Wrong as a whole: nothing is named, or too much.
WHOLE = (
    ("/runs/tea/sample", "id= is missing"),
    ("/runs/tea/sample?id=", "id= is missing"),
    ("/api/runs/tea/sample", "id= is missing"),
    ("/api/runs/tea/prompt?judge=rules", "id= is missing"),
    ("/api/runs/tea/prompt?id=tea-1", "judge= is missing"),
    ("/api/runs/tea/review/queue", "queue= is missing"),
    ("/api/runs/tea/review/item", "text= is missing"),
    ("/api/runs/tea/review/link", "rater= is missing"),
    ("/api/runs/tea/review/queue?queue=filter:Moon%3DFull", "Moon=Full"),
    ("/api/runs/tea/review/queue?queue=filter:status%3DValid", "status=Valid"),
    ("/api/answers/spring/answer", "number= is missing"),
    ("/api/answers/spring/answer?number=1", "column= is missing"),
    ("/api/answers/spring/answer?number=1&column=2", "column=2"),
    ("/compare?a=tea", "two sides"),
    ("/compare?target=aster", "two sides"),
    ("/api/compare", "two sides"),
    ("/api/compare?a=tea&target=aster", "two sides"),
    ("/api/compare?a=tea&target=aster&target=cedar&target=Third", "target=Third"),
    ("/compare?a=tea&target=aster&target=cedar&target=Third", "target=Third"),
    ("/compare/matrix", "2 to 8"),
    ("/api/compare/matrix?run=tea", "2 to 8"),
)
# What is sent, and is repeated in the letters in which it was sent.
BODIES: Mapping[str, tuple[dict[str, Any], str]] = {
    "/api/runs/tea/review/labels": ({"id": "01234567", "rater": "Mia", "queue": "", "text": "Moon"}, "text: "),
    "/api/runs/tea/review/retractions": ({"id": "01234567", "rater": "Mia", "retracts": "x", "Moon": "Full"}, "Moon: "),
    "/api/runs/tea/review/draws": ({"count": "Ten"}, "count: "),
    "/api/runs/tea/name": ({"new": "../Moon"}, "../Moon"),
    "/api/runs/tea/removal": ({"run": "Moon"}, "'Moon'"),
    "/api/answers/spring/name": ({"new": "../Moon"}, "../Moon"),
    "/api/answers/spring/removal": ({"run": "Moon"}, "'Moon'"),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("parameters")
    judge_rows(root)
    judge_rows(root, run="oolong")
    answer_rows(root)
    return root / "ws"


def path_of(route: str) -> str:
    return route.format(run="tea", answers="spring", execution="none", name="run.js")


def sentence_of(answer: Answer) -> str:
    """What a program or a person is told, in one line."""
    if answer.headers["Content-Type"].startswith("application/json"):
        sentence = str(json.loads(answer.text)["error"])
    else:
        line = re.search(r'<p class="problem-line">(.*?)</p>', answer.text, re.DOTALL)
        assert line, answer.text[:400]
        sentence = html.unescape(line[1])
    return sentence


def test_the_table_names_every_address_that_takes_anything() -> None:
    assert set(TABLE) <= {path_of(path) for _, path, _ in ROUTES}
    assert set(BODIES) == {path_of(path) for method, path, _ in ROUTES if method == "POST"}


def test_every_address_refuses_a_name_that_it_does_not_know_and_says_which_there_are(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        own = {"Origin": f"http://127.0.0.1:{client.server.port}"}
        for method, route, _ in ROUTES:
            path = path_of(route)
            answer = await client.ask(f"{path}?Moon=FULL", method, headers=own if method == "POST" else {}, body=b"{}")
            known = ", ".join(sorted(TABLE.get(path, ())))
            words = f"there is {known}" if known else "this address takes none"
            assert (path, answer.status) == (path, 400)
            assert sentence_of(answer) == f"Moon=FULL: no such parameter; {words}"

    look(workspace, scenario)


def test_every_value_that_means_nothing_is_refused_as_it_was_written(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for path, names in TABLE.items():
            needed = NEEDED.get(path, "")
            for name, values in ({"lang": ("Klingon", "EN"), "theme": ("Blue",)} | dict(names)).items():
                rest = [part for part in needed.split("&") if not part.startswith(f"{name}=") or name == "run"]
                for value in values:
                    answer = await client.wait(f"{path}?{'&'.join([*rest, urlencode({name: value})])}")
                    asked = f"{path}: {name}={value[:40]}"
                    assert (asked, answer.status) == (asked, 400)
                    # A line break of whoever asked is theirs.
                    sentence = sentence_of(answer)
                    assert (f"{name}={value}" in sentence, sentence.replace(value, "").count("\n")) == (True, 0), asked

    look(workspace, scenario)


def test_what_stands_in_an_address_twice_is_refused_where_only_one_is_meant(workspace: Path) -> None:
    """The second would be left out in silence."""

    async def scenario(client: Client) -> None:
        for path, names in TABLE.items():
            for name in names:
                answer = await client.wait(f"{path}?{name}=&{name}=Second")
                is_refused = answer.status == 400 and f"{name}=Second: {name} stands in the address twice" in (
                    sentence_of(answer)
                )
                assert (path, name, is_refused) == (path, name, name not in SEVERAL.get(path, ()))

    look(workspace, scenario)


@pytest.mark.parametrize(("address", "words"), WHOLE)
def test_what_is_missing_or_too_much_is_named(workspace: Path, address: str, words: str) -> None:
    async def scenario(client: Client) -> None:
        answer = await client.wait(address)
        assert answer.status == 400
        assert words in sentence_of(answer)

    look(workspace, scenario)


def test_nothing_after_a_name_is_as_if_the_name_were_not_there(workspace: Path) -> None:
    """Forms send all of their fields."""

    async def scenario(client: Client) -> None:
        for path, names in TABLE.items():
            if path in (
                "/runs/tea/sample",
                "/api/runs/tea/sample",
                "/api/runs/tea/prompt",
                "/api/runs/tea/review/item",
            ):
                continue
            needed = NEEDED.get(path, "")
            empty = [f"{name}=" for name in names if f"{name}=" not in needed]
            answer = await client.wait(f"{path}?{'&'.join(filter(None, [needed, *empty]))}")
            assert (path, answer.status) == (path, 200)

    look(workspace, scenario)


@pytest.mark.parametrize("path", BODIES)
def test_a_body_is_refused_in_its_own_letters(workspace: Path, path: str) -> None:
    body, words = BODIES[path]

    async def scenario(client: Client) -> None:
        answer = await client.post(path, body)
        assert answer.status == 400
        assert words in sentence_of(answer)
        assert "\n" not in sentence_of(answer)

    look(workspace, scenario)


def test_what_does_not_exist_is_another_thing_than_what_means_nothing(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for path in (
            "/runs/Moon",
            "/api/answers/Moon",
            "/api/runs/tea/sample?id=Moon",
            f"/api/compare?a=tea&b={quote('Moon')}",
        ):
            answer = await client.wait(path)
            assert (path, answer.status, "Moon" in sentence_of(answer)) == (path, 404, True)

    look(workspace, scenario)
