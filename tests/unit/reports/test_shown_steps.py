"""Steps in a page: numbered as they were, each text within its limit, and nothing left out in silence."""

from typing import Any

from tests.cases import each

from mixseek.domain.judgments import JudgedRow, Span, Status
from mixseek.domain.scored_details import Quote
from mixseek.reports.pages.payload import rows_payload
from mixseek.reports.pages.shown_steps import MOST_STEPS, shown_contexts, shown_steps

_CALL = {"role": "tool", "tool": "look_up", "arguments": {"city": "Zürich"}, "result": "r" * 50, "status": "ok"}


def test_each_text_of_a_step_is_within_the_limit_and_says_what_is_left_out() -> None:
    """Arguments are the text that a quote of them is looked up in."""
    (step,) = shown_steps([_CALL], 20)

    assert step == {
        "n": 1,
        "role": "tool",
        "tool": "look_up",
        "status": "ok",
        "arguments": '{"city": "Zürich"}',
        "result": "r" * 20,
        "cut": {"result": 30},
    }


def test_too_many_steps_are_counted_where_they_are_left_out() -> None:
    """The first and the last stay, under their own numbers."""
    shown = shown_steps([_CALL] * (MOST_STEPS + 7), 20)

    assert [step for step in shown if "skipped" in step] == [{"skipped": 7}]
    assert (shown[0]["n"], shown[-1]["n"], len(shown)) == (1, MOST_STEPS + 7, MOST_STEPS + 1)


def test_a_picture_that_is_too_large_is_counted() -> None:
    """Half of a data URL is no picture."""
    (step,) = shown_steps([{"role": "user", "images": ["short.png", "data:" + "x" * 99]}], 20)

    assert (step["images"], step["images_cut"]) == (["short.png"], 1)


def test_contexts_are_cut_alike() -> None:
    """A book is no help on a page."""
    assert shown_contexts([{"id": "b", "text": "word " * 10}], 9) == [{"id": "b", "text": "word word", "cut": 41}]


@each(
    ("place", "span"),
    [
        ({"step": 1, "part": "arguments"}, [10, 17]),
        # Beside the musical sign there are two units of a page where there is one character.
        ({"step": 2, "part": "text"}, [2, 5]),
        ({"context": "leaflet"}, [1, 4]),
        ({"step": 9, "part": "text"}, None),
        ({"context": "nobody's"}, None),
    ],
)
def test_quotes_stand_in_the_step_that_they_name(place: dict[str, Any], span: list[int] | None) -> None:
    """Their spans are places in that text, and none in the response."""
    spans = {"arguments": [10, 17], "text": [1, 4]}.get(place.get("part", ""), [1, 4])
    evidence = {"dimension": "tool_use", "quote": "q", "stage": "exact", "spans": [spans], **place}
    row = JudgedRow(
        id="1",
        judge="j",
        status=Status.VALID,
        response="a response that is long enough for any span",
        fields={"scores": {"tool_use": 1}, "maxima": {"tool_use": 2}, "evidence": [evidence]},
        steps=[_CALL, {"role": "assistant", "text": "𝄞 is it"}],
        contexts=[{"id": "leaflet", "text": "open"}],
    )

    (quote,) = rows_payload([row], 1_000_000)["rows"][0]["quotes"]

    assert quote.get("spans") == (None if span is None else [span])
    assert {name: quote[name] for name in place} == place


def test_a_quote_of_a_step_is_no_place_in_the_response() -> None:
    """A cut response is kept around what was quoted from it."""
    assert Quote("d", "q", "", (Span(0, 1),), "exact", None).is_in_response
    assert not Quote("d", "q", "", (Span(0, 1),), "exact", None, step=1).is_in_response
    assert not Quote("d", "q", "", (Span(0, 1),), "exact", None, context="c").is_in_response


def test_claims_bring_two_quotes_each_where_they_stand() -> None:
    """The claim's words in the response, and the document's in the document that they are from."""
    claims = [
        {"claim_quote": "free", "spans": [[3, 7]], "verdict": "contradicted", "context_id": "b"}
        | {"quote": "6 euros", "context_spans": [[6, 13]], "stage": "exact", "problem": None},
        {"claim_quote": "It", "spans": [[0, 2]], "verdict": "not_found", "context_id": None}
        | {"quote": None, "context_spans": [], "stage": None, "problem": None},
    ]
    row = JudgedRow(
        id="1",
        judge="j",
        status=Status.VALID,
        response="It free",
        fields={"claims": claims},
        contexts=[{"id": "a", "text": "nothing"}, {"id": "b", "text": "costs 6 euros"}],
    )

    (shown,) = rows_payload([row], 1_000_000)["rows"]

    assert shown["claims"] == [
        {"verdict": "contradicted", "text": "free", "context": "b", "quote": "6 euros"},
        {"verdict": "not_found", "text": "It"},
    ]
    assert [(quote.get("context"), quote.get("spans")) for quote in shown["quotes"]] == [
        (None, [[3, 7]]),
        ("b", [[6, 13]]),
        (None, [[0, 2]]),
        (None, None),
    ]
