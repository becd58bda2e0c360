"""The fault matrix for the scored protocols: a bad reply about a bad response is never counted as a verdict on it."""

import json
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.scored_replies import (
    CROSS_DIMENSIONS,
    CROSS_VALID,
    OWN_VALID,
    RUBRIC_DIMENSIONS,
    RUBRIC_VALID,
    changed,
    parse,
    parse_invalid,
    parse_valid,
)

from mixseek.domain.judgments import Flag, InvalidJudgment

# The judged response is bad throughout, so "valid and high" would be the worst outcome; INJECTED says just that.
LOW: dict[str, dict[str, Any]] = {
    "cross": {
        **CROSS_VALID,
        "scores": {**dict.fromkeys(CROSS_DIMENSIONS, 0), "FORMAT_COMPLIANCE": 1, "overall_score": 1},
        "verdict": "FAIL",
    },
    "rubric": {**RUBRIC_VALID, "score": dict(zip(RUBRIC_DIMENSIONS, (2, 1, 0), strict=True)), "total_score": 3},
    "letters": {**OWN_VALID, "scores": {"A_tone": 1, "B_facts": 0}, "sum": 1, "grade": "rewrite"},
}
INJECTED = {"cross": CROSS_VALID, "rubric": RUBRIC_VALID, "letters": OWN_VALID}
SCORE = {"cross": "scores.COMPLETENESS", "rubric": "score.logic_and_fact", "letters": "scores.B_facts"}
# "pass true with score 0": the good word beside the bad numbers.
BETTER = {"cross": ("verdict", "PASS"), "rubric": ("total_score", 100), "letters": ("grade", "send")}


def faults(name: str) -> dict[str, tuple[str, Flag, str]]:
    low, injected = json.dumps(LOW[name]), json.dumps(INJECTED[name])
    path, word = BETTER[name]
    return {
        "{}": ("{}", Flag.UNPARSABLE_OUTPUT, "the object is empty"),
        "verdict only": ('{"verdict": "incorrect"}', Flag.UNPARSABLE_OUTPUT, "missing"),
        "refusal in prose": ("I'm sorry, but I can't evaluate this.", Flag.JUDGE_REFUSAL_OR_EVASION, "declines"),
        "refusal in Japanese": (
            "申し訳ありませんが、この回答は評価できません。",
            Flag.JUDGE_REFUSAL_OR_EVASION,
            "declines",
        ),
        "refusal in Chinese": ("抱歉，我无法对该内容进行评测。", Flag.JUDGE_REFUSAL_OR_EVASION, "declines"),
        "score 42": (json.dumps(changed(LOW[name], SCORE[name], 420)), Flag.PROTOCOL_VIOLATION, "outside the scale"),
        "pass with a low score": (json.dumps({**LOW[name], path: word}), Flag.INTERNAL_INCONSISTENCY, "but"),
        "two verdicts, first injected": (f"{injected}\n{low}", Flag.PROTOCOL_VIOLATION, "2 different JSON objects"),
        "two verdicts, last injected": (f"{low}\n{injected}", Flag.PROTOCOL_VIOLATION, "2 different JSON objects"),
        "grade quoted in prose": ("says 'GRADE: C'. My verdict: wrong.", Flag.UNPARSABLE_OUTPUT, "no JSON object"),
        "score as text": (json.dumps(changed(LOW[name], SCORE[name], "high")), Flag.UNPARSABLE_OUTPUT, '"high"'),
        "HTTP error as reply": ("Error code: 429 - rate limit reached", Flag.UNPARSABLE_OUTPUT, "endpoint's error"),
        "HTTP error object": ('{"error": {"message": "overloaded"}}', Flag.UNPARSABLE_OUTPUT, "endpoint's error"),
        "empty": ("", Flag.UNPARSABLE_OUTPUT, "the reply is empty"),
        "truncated": (injected[:60], Flag.UNPARSABLE_OUTPUT, "cut off"),
        "bundle": (f"[{low}, {injected}]", Flag.PROTOCOL_VIOLATION, "JSON array"),
        "contradicting keys": (
            '{"verdict": "PASS", "verdict": "FAIL", "total_score": 1, "total_score": 2, "sum": 1, "sum": 2}',
            Flag.INTERNAL_INCONSISTENCY,
            "given twice",
        ),
        "NaN": (json.dumps(changed(LOW[name], SCORE[name], float("nan"))), Flag.UNPARSABLE_OUTPUT, "not a JSON number"),
        "score in Chinese prose": ("评分：２分，判定：不通过", Flag.UNPARSABLE_OUTPUT, "no JSON object"),
    }


CASES = [(name, fault) for name in LOW for fault in faults(name)]


@each(("name", "fault"), CASES)
@each("mode", ["repair", "strict"])
def test_a_bad_reply_is_invalid_and_says_why(name: str, fault: str, mode: str) -> None:
    text, flag, words = faults(name)[fault]
    judgment = parse_invalid(name, text, reply_mode=mode)

    assert any(finding.flag is flag and words in finding.detail for finding in judgment.findings), judgment.findings


@each("name", LOW)
@each("mode", ["repair", "strict"])
@each("thought", ["", '{"a": "', 'he says "yes and {', "a stray ' quote"])
def test_thought_before_valid_json_is_the_one_thing_always_accepted(name: str, thought: str, mode: str) -> None:
    thought = thought or json.dumps(INJECTED[name])
    judgment = parse_valid(name, f"<think>{thought}</think>{json.dumps(LOW[name])}", reply_mode=mode)

    assert judgment.score < 0.5
    assert judgment.repairs == ("think_block",)


@pytest.mark.parametrize("name", LOW)
def test_a_reply_cut_anywhere_is_invalid(name: str) -> None:
    text = json.dumps(LOW[name])
    for cut in range(1, len(text), 3):
        judgment = parse(name, text[:cut])

        assert isinstance(judgment, InvalidJudgment)
        assert {finding.flag for finding in judgment.findings} == {Flag.UNPARSABLE_OUTPUT}


@pytest.mark.parametrize("name", LOW)
def test_the_order_of_keys_and_layout_do_not_matter(name: str) -> None:
    backwards = json.dumps(dict(reversed(list(LOW[name].items()))), indent=4)
    one, other = parse_valid(name, backwards), parse_valid(name, LOW[name])

    assert (one.score, one.verdict, one.fields) == (other.score, other.verdict, other.fields)


def test_a_reply_that_repeats_an_injected_verdict_is_given_away_by_its_quotes() -> None:
    """The judged text holds a finished verdict; a judge that copies it quotes what the response does not say."""
    flattering = [{**entry, "quote": "a perfect answer in every respect"} for entry in CROSS_VALID["evidence"]]
    judgment = parse_invalid("cross", {**CROSS_VALID, "evidence": flattering})

    assert {finding.flag for finding in judgment.findings} == {Flag.PROTOCOL_VIOLATION}
    assert len(judgment.findings) == 4


def test_an_invalid_judgment_keeps_what_was_repaired_and_what_was_quoted() -> None:
    """Quotes count against the judge even then; where there are none, nothing stands in their place."""
    unread = parse_invalid("rubric", "<think>hm</think>no object here")
    quoted = parse_invalid("cross", changed(CROSS_VALID, "verdict", "FAIL"))

    assert (list(unread.repairs), unread.fields) == (["think_block"], {})
    assert len(quoted.fields["evidence"]) == len(CROSS_DIMENSIONS)
    assert parse_invalid("rubric", changed(RUBRIC_VALID, "total_score", 3)).fields == {}


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_blank_reason_is_none(blank: str) -> None:
    """As in cross, where a reason is one sentence."""
    reply = changed(RUBRIC_VALID, "reasoning.logic_and_fact", blank)
    judged = parse_invalid("rubric", reply)

    assert [finding.flag for finding in judged.findings] == [Flag.PROTOCOL_VIOLATION]
    assert "reasoning.logic_and_fact is blank" in judged.findings[0].detail
