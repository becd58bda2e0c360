"""The judgments inside the page: complete, compact, and inert."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mixseek.domain.judgments import Finding, Flag, JudgedRow, Span, Status
from mixseek.reports.excerpts import LONGEST_TEXT, Excerpt, excerpt_around, field_limit, utf16_offset
from mixseek.reports.pages.html import embed_json
from mixseek.reports.pages.packed_rows import PackedRows, unpack_json
from mixseek.reports.pages.payload import rows_payload

ANY_TEXT = st.text(st.characters(codec=None))


def payload_of(*rows: JudgedRow, budget: int = 1_000_000) -> dict[str, Any]:
    """As a page reads it."""
    payload: dict[str, Any] = json.loads(json.dumps(rows_payload(rows, budget)))
    return payload


def valid(name: str, response: str, span: Span | None = None, judge: str = "rules") -> JudgedRow:
    return JudgedRow(
        id=name, judge=judge, status=Status.VALID, response=response, verdict="incorrect", score=0.0, span=span
    )


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner), max_leaves=5))
def test_embedded_json_reads_back_and_holds_nothing_active(value: object) -> None:
    text = embed_json(value)

    assert not set(text) & set("<>&\u2028\u2029")
    text.encode("utf-8")
    # Two halves of a pair that stood apart in Python are one character after JSON; compare in UTF-16, as the page does.
    expected = json.dumps(value)
    assert json.dumps(json.loads(text)) == expected


def test_a_zero_score_is_a_score() -> None:
    assert payload_of(valid("a", "x"))["rows"][0]["score"] == 0.0


def test_empty_fields_are_left_out() -> None:
    payload = payload_of(valid("a", "x"))

    assert payload["rows"] == [
        {"sample": 0, "judge": "rules", "status": "valid", "tone": "bad", "score": 0.0, "verdict": "incorrect"}
    ]
    assert payload["samples"] == [{"id": "a", "response": "x"}]


def test_a_panel_repeats_no_text() -> None:
    payload = payload_of(valid("a", "long text"), valid("a", "long text", judge="other"))

    assert len(payload["samples"]) == 1
    assert [row["sample"] for row in payload["rows"]] == [0, 0]


def test_everything_a_reader_needs_is_there() -> None:
    row = JudgedRow(
        id="a", judge="replay", status=Status.INVALID, response="resp", question="quest", task_name="task",
        ground_truth="B", ground_truth_alternatives=("b",),
        extracted_answer="C", rules=("one", "two"), error_type="wrong_logic", comment="why", reason="because",
        flags=(Finding(Flag.PROTOCOL_VIOLATION, "score is 7"),), target_model="model-x", raw_reply="{}",
    )  # fmt: skip

    payload = payload_of(row)

    assert payload["samples"] == [
        {
            "id": "a",
            "task": "task",
            "model": "model-x",
            "question": "quest",
            "response": "resp",
            "truth": "B",
            "alternatives": ["b"],
        }
    ]
    assert payload["rows"] == [
        {
            "sample": 0,
            "judge": "replay",
            "status": "invalid",
            "tone": "invalid",
            "score": None,
            "answer": "C",
            "rules": ["one", "two"],
            "error": "wrong_logic",
            "flags": [["PROTOCOL_VIOLATION", "score is 7"]],
            "comment": "why",
            "reason": "because",
            "reply": "{}",
        }
    ]


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_spans_point_at_the_same_text_in_utf16(before: str, inside: str, after: str) -> None:
    text = before + inside + after
    row = valid("a", text, Span(len(before), len(before) + len(inside)))

    units = text.encode("utf-16-le", "surrogatepass")
    start, end = payload_of(row)["rows"][0]["span"]

    assert units[start * 2 : end * 2] == inside.encode("utf-16-le", "surrogatepass")


def test_a_span_outside_the_response_is_not_drawn() -> None:
    assert "span" not in payload_of(valid("a", "short", Span(3, 99)))["rows"][0]


def test_responses_beyond_the_budget_are_cut_around_the_answer() -> None:
    response = "x" * 5_000 + "ANSWER" + "y" * 5_000
    rows = (valid("long", response, Span(5_000, 5_006)), valid("short", "kept whole"))

    payload = payload_of(*rows, budget=1_010)

    sample, row = payload["samples"][0], payload["rows"][0]
    start, end = row["span"]
    assert sample["response"][start:end] == "ANSWER"
    assert len(sample["response"]) == 1_000
    assert sample["before"] + 1_000 + sample["after"] == len(response)
    assert payload["samples"][1]["response"] == "kept whole"


def test_questions_and_replies_beyond_the_budget_keep_their_beginning() -> None:
    row = JudgedRow(id="a", judge="j", status=Status.INVALID, response="r", question="q" * 500, raw_reply="z" * 500)

    payload = payload_of(row, budget=201)

    assert (payload["samples"][0]["question"], payload["samples"][0]["question_cut"]) == ("q" * 100, 400)
    assert (payload["rows"][0]["reply"], payload["rows"][0]["reply_cut"]) == ("z" * 100, 400)


def test_a_report_keeps_no_text_of_megabytes() -> None:
    """Thousands of them would not fit into memory; what is left out is counted, and the answer is still marked."""
    response = "x" * (3 * LONGEST_TEXT) + "ANSWER" + "y" * 40
    span = Span(3 * LONGEST_TEXT, 3 * LONGEST_TEXT + 6)
    row = replace(valid("long", response, span), question="q" * (LONGEST_TEXT + 7), raw_reply="z" * (LONGEST_TEXT + 9))
    (block,) = PackedRows([row], total=1)

    payload = unpack_json(block)

    sample, shown = payload["samples"][0], payload["rows"][0]
    assert sample["response"][slice(*shown["span"])] == "ANSWER"
    assert sample["before"] + len(sample["response"]) + sample.get("after", 0) == len(response)
    assert (sample["question_cut"], shown["reply_cut"]) == (7, 9)


@given(st.text(max_size=60), st.integers(1, 70), st.integers(0, 60), st.integers(0, 60))
def test_an_excerpt_and_what_it_leaves_out_are_the_text(text: str, limit: int, one: int, other: int) -> None:
    start, end = sorted(min(offset, len(text)) for offset in (one, other))

    excerpt = excerpt_around(text, Span(start, end), limit)

    assert text[: excerpt.before] + excerpt.text + text[len(text) - excerpt.after :] == text
    assert len(excerpt.text) == min(limit, len(text))


def test_without_a_span_the_end_is_kept() -> None:
    assert excerpt_around("abcdef", None, 2) == Excerpt("ef", 4, 0)


@given(st.lists(st.integers(0, 100), max_size=20), st.integers(0, 500))
def test_the_limit_keeps_the_budget_and_cuts_no_more_than_needed(lengths: list[int], budget: int) -> None:
    limit = field_limit(lengths, budget)

    assert sum(min(length, limit) for length in lengths) <= budget
    longer = sum(min(length, limit + 1) for length in lengths)
    assert longer > budget or limit >= max(lengths, default=0)


def test_offsets_count_utf16_units() -> None:
    assert [utf16_offset("a𠮷b", offset) for offset in range(4)] == [0, 1, 3, 4]


def test_every_judgment_is_in_a_block_and_in_the_index() -> None:
    """In the order in which they come, no sample torn, and every thing that they are filtered by."""
    rows = [valid(f"s-{number}", "x" * 2_000, judge=judge) for number in range(700) for judge in ("rules", "model")]
    rows[9] = replace(rows[9], status=Status.INVALID, verdict=None, score=None, error_type="e", rules=("one", "two"))
    packed = PackedRows(iter(rows), total=len(rows))

    blocks = [unpack_json(block) for block in packed]
    index = unpack_json(packed.index())

    listed = [(block["samples"][row["sample"]]["id"], row["judge"]) for block in blocks for row in block["rows"]]
    assert listed == [(row.id, row.judge) for row in rows]
    assert index["ids"] == [row.id for row in rows]
    assert len(blocks) > 5
    assert index["firsts"] == [sum(len(one["rows"]) for one in blocks[:number]) for number in range(len(blocks))]
    assert all(len(block["rows"]) == 2 * len(block["samples"]) for block in blocks)
    held = {name: column["values"][column["codes"][9]] for name, column in index["columns"].items()}
    assert (held["status"], held["rule"], held["error"], held["verdict"]) == (["invalid"], ["one", "two"], ["e"], [])
    assert index["columns"]["judge"]["choices"] == [["model", 700], ["rules", 700]]


def test_short_judgments_fill_blocks_of_two_hundred() -> None:
    """A browser opens a whole block for one row of it; a sample at the edge stays with all of its judges."""
    rows = [valid(f"s-{number}", "x", judge=judge) for number in range(150) for judge in ("a", "b", "c")]

    blocks = [unpack_json(block)["rows"] for block in PackedRows(rows, total=450)]

    assert [len(block) for block in blocks] == [201, 201, 48]


def test_all_judgments_together_keep_the_budget_and_the_short_ones_are_whole() -> None:
    rows = [valid(f"s-{number}", "long " * 1_000 if number % 2 else "short") for number in range(100)]

    blocks = [unpack_json(block) for block in PackedRows(rows, total=100, budget=100_000)]

    texts = [sample["response"] for block in blocks for sample in block["samples"]]
    assert 60_000 < sum(map(len, texts)) <= 100_000
    assert texts[::2] == ["short"] * 50


def test_halves_of_characters_reach_the_page_as_they_are() -> None:
    (block,) = PackedRows([valid("a", "\ud800 lone \udfff")], total=1)

    assert unpack_json(block)["samples"][0]["response"] == "\ud800 lone \udfff"
