"""Quotes are looked for in the response: enough of them must stand there, and where is recorded."""

from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.scored_replies import (
    CROSS_DIMENSIONS,
    CROSS_SAMPLE,
    CROSS_VALID,
    OWN_VALID,
    changed,
    only_finding,
    parse_invalid,
    parse_valid,
)

from mixseek.domain.judgments import Flag


def evidence(**quotes: str) -> dict[str, Any]:
    """The valid reply with other quotes for some dimensions."""
    entries = [{**entry, "quote": quotes.get(entry["dimension"], entry["quote"])} for entry in CROSS_VALID["evidence"]]
    return {**CROSS_VALID, "evidence": entries}


def test_spans_are_offsets_in_the_original_response() -> None:
    for entry in parse_valid("cross", CROSS_VALID).fields["evidence"]:
        ((start, end),) = entry["spans"]

        assert CROSS_SAMPLE.response[start:end] == entry["quote"]
        assert (entry["stage"], entry["problem"]) == ("exact", None)


@pytest.mark.parametrize(
    ("quote", "problem"),
    [
        ("The pier is 41 metres long", "not_found"),
        ("then give one warning", "from_question"),
        ("x", "not_found"),
        ("a", "too_short"),
    ],
)
def test_a_quote_that_proves_nothing_is_a_violation_that_says_why(quote: str, problem: str) -> None:
    sample = replace(CROSS_SAMPLE, response=CROSS_SAMPLE.response + " a")
    flag, detail = only_finding(parse_invalid("cross", evidence(COMPLETENESS=quote), sample))

    assert flag is Flag.PROTOCOL_VIOLATION
    assert "COMPLETENESS" in detail
    assert problem in detail


def test_an_invalid_judgment_keeps_its_quotes_and_nothing_that_could_be_averaged() -> None:
    judgment = parse_invalid("cross", evidence(COMPLETENESS="The pier is 41 metres long"))

    assert set(judgment.fields) == {"evidence"}
    assert [entry["problem"] for entry in judgment.fields["evidence"]] == [None, None, None, "not_found"]


def test_quotes_are_not_called_invented_where_the_response_is_not_at_hand() -> None:
    """Replies that were collected elsewhere are checked without the responses; only `present` allows that."""
    sample = replace(CROSS_SAMPLE, response="")
    present = parse_valid("cross", CROSS_VALID, sample, evidence={"policy": "present"})
    verified = parse_invalid("cross", CROSS_VALID, sample)

    assert {(entry["stage"], entry["problem"]) for entry in present.fields["evidence"]} == {(None, None)}
    assert {entry["problem"] for entry in verified.fields["evidence"]} == {"not_found"}


def test_a_quote_from_the_rubric_is_named_as_such() -> None:
    sample = replace(CROSS_SAMPLE, rubric="Every point is worth one mark.")

    assert (
        "from_rubric"
        in only_finding(parse_invalid("cross", evidence(COMPLETENESS="Every point is worth one mark."), sample))[1]
    )


def test_one_good_quote_is_enough_and_the_bad_one_is_recorded() -> None:
    more = {"dimension": "COMPLETENESS", "quote": "never said", "reason": "No."}
    judgment = parse_valid("cross", {**CROSS_VALID, "evidence": [more, *CROSS_VALID["evidence"]]})

    assert judgment.fields["evidence"][0] == {**more, "spans": [], "stage": None, "problem": "not_found"}


def test_the_same_quote_may_serve_all_dimensions() -> None:
    """Seed 003 §4."""
    quotes = dict.fromkeys(CROSS_DIMENSIONS, "Ferries leave at noon")

    assert parse_valid("cross", evidence(**quotes)).verdict == "PASS"


def test_more_quotes_can_be_demanded() -> None:
    options: dict[str, Any] = {"evidence": {"minimum_per_dimension": 2}}

    assert len(parse_invalid("cross", CROSS_VALID, **options).findings) == 4
    assert parse_valid("cross", {**CROSS_VALID, "evidence": CROSS_VALID["evidence"] * 2}, **options)


@pytest.mark.parametrize(
    ("policy", "quote", "is_valid"),
    [
        ("verified", "never said", False),
        ("verified", "", False),
        ("present", "never said", True),
        ("present", " ", False),
        ("off", "never said", True),
        ("off", "", True),
    ],
)
def test_policies(policy: str, quote: str, is_valid: bool) -> None:
    value = evidence(COMPLETENESS=quote)
    options: dict[str, Any] = {"evidence": {"policy": policy}}
    if is_valid:
        fields = parse_valid("cross", value, **options).fields
        assert ("evidence" in fields) == (policy != "off")
    else:
        assert only_finding(parse_invalid("cross", value, **options))[0] is Flag.PROTOCOL_VIOLATION


def test_without_a_policy_evidence_may_be_anything_or_nothing() -> None:
    for value in (None, 3, "quoted", [1]):
        assert parse_valid("cross", {**CROSS_VALID, "evidence": value}, evidence={"policy": "off"})


def test_an_empty_output_can_only_be_judged_without_quotes() -> None:
    """Nothing can be quoted from it, and that is then the evidence; but each dimension must still be reasoned."""
    silent = replace(CROSS_SAMPLE, response=" \n")
    scores = {**dict.fromkeys(CROSS_DIMENSIONS, 0), "overall_score": 0}
    value = {**evidence(**dict.fromkeys(CROSS_DIMENSIONS, "")), "scores": scores, "verdict": "FAIL"}

    assert parse_valid("cross", value, silent).verdict == "FAIL"
    assert parse_invalid("cross", {**value, "evidence": value["evidence"][:3]}, silent)


@each(
    ("quote", "is_valid"),
    [
        ("", True),
        ("…", True),
        ("(empty)", True),
        ("no actual output", True),
        ("（空输出）", True),
        ("出力なし", True),
        ("Kind regards", False),
        ("A nonempty-looking sentence which goes on to invent what the empty output never said", False),
    ],
)
def test_an_empty_output_is_not_quoted_but_called_empty(quote: str, is_valid: bool) -> None:
    silent = replace(CROSS_SAMPLE, response="")
    value = evidence(**dict.fromkeys(CROSS_DIMENSIONS, quote))

    assert (parse_valid if is_valid else parse_invalid)("cross", value, silent)


@pytest.mark.parametrize(
    ("given", "flag", "words"),
    [
        ({"A_tone": "Kind regards"}, Flag.UNPARSABLE_OUTPUT, "field missing: evidence.B_facts"),
        ({"A_tone": "Kind regards", "B_facts": 3}, Flag.UNPARSABLE_OUTPUT, "evidence.B_facts is 3"),
        ({"A_tone": "Kind regards", "B_facts": "left on Friday"}, Flag.PROTOCOL_VIOLATION, "not_found"),
        ({**OWN_VALID["evidence"], "C": "Kind regards"}, Flag.PROTOCOL_VIOLATION, 'evidence."C" is no dimension'),
        ([], Flag.UNPARSABLE_OUTPUT, "expected an object"),
    ],
)
def test_evidence_as_a_map(given: Any, flag: Flag, words: str) -> None:
    found, detail = only_finding(parse_invalid("letters", changed(OWN_VALID, "evidence", given)))

    assert (found, words in detail) == (flag, True), detail


def test_a_map_may_hold_several_quotes() -> None:
    value = changed(OWN_VALID, "evidence.A_tone", ["never said", "Kind regards"])

    assert [one["problem"] for one in parse_valid("letters", value).fields["evidence"]] == ["not_found", None, None]


def test_where_none_is_demanded_evidence_may_be_left_out_but_not_be_misshapen() -> None:
    options: dict[str, Any] = {"evidence": {"policy": "verified", "form": "map", "minimum_per_dimension": 0}}
    bare = {key: value for key, value in OWN_VALID.items() if key != "evidence"}
    partly = {**bare, "evidence": {"A_tone": "Kind regards"}}

    assert parse_valid("letters", bare, **options).fields["evidence"] == []
    assert parse_valid("letters", {**bare, "evidence": None}, **options)
    assert [one["dimension"] for one in parse_valid("letters", partly, **options).fields["evidence"]] == ["A_tone"]
    assert parse_invalid("letters", {**bare, "evidence": "Kind regards"}, **options)


def test_several_lost_quotes_are_counted() -> None:
    lost = [{"dimension": "COMPLETENESS", "quote": f"never said {word}", "reason": "No."} for word in ("so", "thus")]
    detail = only_finding(parse_invalid("cross", {**CROSS_VALID, "evidence": [*CROSS_VALID["evidence"][:3], *lost]}))[1]

    assert "only 0 of 2 quotes stand in it" in detail
    assert "never said so" in detail
    single = only_finding(parse_invalid("cross", {**CROSS_VALID, "evidence": [*CROSS_VALID["evidence"][:3], lost[0]]}))
    assert "its quote does not stand in it" in single[1]
