"""Each fault carries its flag and says where it is; one fault gives one finding, several give all of them."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.scored_replies import (
    CROSS_SAMPLE,
    CROSS_VALID,
    NAMES,
    RUBRIC_DIMENSIONS,
    RUBRIC_SAMPLE,
    RUBRIC_TEXT,
    RUBRIC_VALID,
    SAMPLES,
    VALID,
    changed,
    only_finding,
    parse,
    parse_invalid,
    parse_valid,
    protocol_of,
    without,
)

from mixseek.domain.judgments import Flag, InvalidJudgment, Method, Reply, Undecided, ValidJudgment
from mixseek.protocols.replies.repairs import ReplyMode

V, U, C, R, I = (  # noqa: E741 - five flags, one letter each, keep a table readable
    Flag.PROTOCOL_VIOLATION,
    Flag.UNPARSABLE_OUTPUT,
    Flag.INCOMPLETE_COVERAGE,
    Flag.JUDGE_REFUSAL_OR_EVASION,
    Flag.INTERNAL_INCONSISTENCY,
)
REFUSAL = "I'm sorry, but I cannot evaluate this response."


@pytest.mark.parametrize("name", NAMES)
def test_the_valid_reply_is_valid_in_both_modes(name: str) -> None:
    for mode in ("strict", "repair"):
        judgment = parse_valid(name, VALID[name], reply_mode=mode)

        assert judgment.repairs == ()
        assert judgment.fields["reply"] == VALID[name]
        assert judgment.fields["scores"]
        assert 0 <= judgment.score <= 1


# path, new value, flag, words of the detail
CROSS_FAULTS: list[tuple[str, Any, Flag, str]] = [
    ("scores.FORMAT_COMPLIANCE", 3, V, "scores.FORMAT_COMPLIANCE is 3, outside the scale 0 to 2"),
    ("scores.FORMAT_COMPLIANCE", -1, V, "outside the scale"),
    ("scores.FORMAT_COMPLIANCE", 2.0, U, "is 2.0, expected an integer"),
    ("scores.FORMAT_COMPLIANCE", True, U, "is true, expected an integer"),
    ("scores.FORMAT_COMPLIANCE", "2", U, 'is "2", expected an integer'),
    ("scores.FORMAT_COMPLIANCE", None, U, "is null"),
    ("scores.FORMAT_COMPLIANCE", [2], U, "expected an integer"),
    ("scores.STYLE", 2, V, 'scores."STYLE" is no dimension of the protocol'),
    ("scores.overall_score", 6, I, "scores.overall_score is 6, but the scores add up to 7"),
    ("scores.overall_score", 7.0, U, "expected an integer"),
    ("scores.overall_score", "7", U, "expected an integer"),
    ("scores", None, U, "scores is null, expected an object"),
    ("scores", [2, 2, 1, 2], U, "expected an object"),
    ("verdict", "FAIL", I, 'verdict is "FAIL", but a total of 7 with these scores is PASS'),
    ("verdict", "pass", V, "expected one of FAIL, PASS, PARTIAL"),
    ("verdict", True, U, "expected a string"),
    ("flags", None, U, "flags is null"),
    ("flags", "none", U, "expected an array"),
    ("flags", [1], U, "flags holds 1"),
    ("flags", ["TOO_LONG"], V, 'flags holds "TOO_LONG"'),
    ("flags", ["protocol_violation"], V, "expected one of PROTOCOL_VIOLATION"),
    *[("flags", [flag.value], flag, "the judge flagged it") for flag in Flag],
    ("meta", None, C, "meta is null"),
    ("meta", "Q2/B", U, "expected an object"),
    ("meta.question_id", "Q3", I, 'meta.question_id is "Q3", but the sample\'s question_id is "Q2"'),
    ("meta.question_id", None, C, "field missing: meta.question_id"),
    ("meta.question_id", "", C, "meta.question_id is empty"),
    ("meta.judge_model", " ", C, "meta.judge_model is empty"),
    ("meta.question_id", ["Q2"], U, "expected a string or an integer"),
    ("meta.prompt_variant", "A", I, "meta.prompt_variant"),
    ("meta.target_model", "gamma", I, "meta.target_model"),
    ("meta.output_id", "other.txt", I, "meta.output_id"),
    ("meta.method", "self_judge", I, "judge and target make it cross_judge"),
    ("meta.method", "peer_review", V, "expected one of cross_judge, self_judge"),
    ("meta.method", None, U, "meta.method is null"),
    ("meta.judge_model", 7, U, "meta.judge_model is 7"),
    ("meta.timestamp", "28.02.2026", V, "expected YYYY-MM-DD"),
    ("meta.timestamp", "2026-02-30", V, "expected YYYY-MM-DD"),
    ("meta.timestamp", "YYYY-MM-DD", V, "expected YYYY-MM-DD"),
    ("meta.timestamp", 20260228, U, "expected a string"),
    ("evidence", None, U, "evidence is null"),
    ("evidence", {}, U, "expected an array"),
    ("evidence", [], V, ""),
    ("evidence.0", "- Ferries leave at noon.", U, "evidence[0]"),
    ("evidence.0.dimension", "D1", V, "evidence[0].dimension"),
    ("evidence.0.quote", 1, U, "evidence[0].quote is 1"),
    ("evidence.0.reason", None, U, "evidence[0].reason is null"),
    ("evidence.0.reason", "  ", V, "evidence[0].reason is blank"),
    ("evidence.0.quote", "The pier is 90 metres long", V, "FORMAT_COMPLIANCE needs 1 from the response"),
    ("evidence.0.quote", "", V, "FORMAT_COMPLIANCE has 0 of 1 quotes"),
    ("evidence.0.quote", "Describe the harbour in three bullet points", V, "from_question"),
    ("notes", 5, U, "notes is 5"),
    ("overall_score", 0, I, "overall_score is"),
    ("COMPLETENESS", 7, I, "COMPLETENESS is"),
]
CROSS_HOLES: list[tuple[str, Flag, str]] = [
    *[
        (f"meta.{name}", C, f"field missing: meta.{name}")
        for name in ("question_id", "prompt_variant", "target_model", "output_id")
    ],
    ("meta.judge_model", U, "field missing: meta.judge_model"),
    ("meta.method", U, "field missing: meta.method"),
    ("meta", C, "meta is missing"),
    ("scores", U, "scores is missing"),
    ("scores.COMPLETENESS", U, "field missing: scores.COMPLETENESS"),
    ("scores.overall_score", U, "field missing: scores.overall_score"),
    ("verdict", U, "field missing: verdict"),
    ("flags", U, "field missing: flags"),
    ("evidence", U, "field missing: evidence"),
    ("evidence.2", V, "SEMANTIC_FIDELITY has 0 of 1 quotes"),
    ("evidence.1.reason", U, "field missing: evidence[1].reason"),
]


@each(("path", "value", "flag", "words"), CROSS_FAULTS)
def test_cross_says_what_is_wrong(path: str, value: Any, flag: Flag, words: str) -> None:
    findings = parse_invalid("cross", changed(CROSS_VALID, path, value)).findings

    assert {finding.flag for finding in findings} == {flag}
    assert any(words in finding.detail for finding in findings), findings
    assert len(findings) == (4 if value == [] else 1)


@each(("path", "flag", "words"), CROSS_HOLES)
def test_cross_says_what_is_missing(path: str, flag: Flag, words: str) -> None:
    assert only_finding(parse_invalid("cross", without(CROSS_VALID, path)))[0] is flag
    assert words in only_finding(parse_invalid("cross", without(CROSS_VALID, path)))[1]


@pytest.mark.parametrize("path", ["notes", "meta.timestamp"])
def test_cross_does_not_need_what_the_seed_calls_optional(path: str) -> None:
    assert parse_valid("cross", without(CROSS_VALID, path)).verdict == "PASS"
    assert parse_valid("cross", changed(CROSS_VALID, path, None)).verdict == "PASS"
    assert parse_valid("cross", changed(CROSS_VALID, path, "")).verdict == "PASS"


ZEROES = dict.fromkeys(RUBRIC_DIMENSIONS, 0)
RUBRIC_FAULTS: list[tuple[dict[str, Any], Flag, str]] = [
    ({"score.logic_and_fact": 61}, V, "score.logic_and_fact is 61, outside the scale 0 to 60"),
    ({"score.logic_and_fact": -0.5}, V, "outside the scale 0 to 60"),
    ({"score.logic_and_fact": True}, U, "is true, expected a number"),
    ({"score.logic_and_fact": "55"}, U, 'is "55", expected a number'),
    ({"score.style": 0}, V, 'score."style" is no dimension'),
    ({"weights.style": 0}, V, 'weights."style" is no dimension'),
    ({"weights.logic_and_fact": "60"}, U, "weights.logic_and_fact"),
    ({"weights.logic_and_fact": None}, U, "weights.logic_and_fact is null"),
    ({"weights": None}, U, "weights is null"),
    ({"total_score": 92}, I, "total_score is 92, but the scores add up to 92.5"),
    ({"total_score": "92.5"}, U, "expected a number"),
    ({"task_name": "tower"}, I, "task_name"),
    ({"task_name": None}, C, "field missing: task_name"),
    ({"task_type": "poem"}, V, "expected one of fact, creative, speculative"),
    ({"task_type": None}, U, "task_type is null"),
    ({"inferred_task_type": "fact"}, I, "it must be null"),
    ({"inferred_task_type": "poem"}, V, "inferred_task_type"),
    ({"inferred_task_type": 1}, U, "inferred_task_type is 1"),
    ({"reasoning.logic_and_fact": "x" * 201}, V, "reasoning.logic_and_fact has 201 characters, at most 200"),
    ({"reasoning.logic_and_fact": "橋" * 201}, V, "has 201 characters"),
    ({"reasoning.logic_and_fact": None}, U, "reasoning.logic_and_fact is null"),
    ({"reasoning.style": "nice"}, V, 'reasoning."style" is no dimension'),
    ({"reasoning": "good"}, U, "reasoning"),
    ({"confidence": "very high"}, V, "expected one of high, medium, low"),
    ({"confidence": 0.9}, U, "expected a string"),
    ({"critical_fail": "false"}, U, "expected true or false"),
    ({"critical_fail": 0}, U, "expected true or false"),
    ({"critical_fail_reason": "none"}, I, "critical_fail is false, but critical_fail_reason is"),
    ({"critical_fail_reason": ""}, I, "it must be null"),
    ({"critical_fail_reason": 3}, U, "critical_fail_reason is 3"),
    ({"critical_fail": True, "critical_fail_reason": "It collapsed."}, I, "demands that every score is 0"),
    ({"critical_fail": True, "score": ZEROES, "total_score": 0}, I, "demands a reason"),
    ({"critical_fail": True, "critical_fail_reason": " ", "score": ZEROES, "total_score": 0}, I, "demands a reason"),
]


@each(("changes", "flag", "words"), RUBRIC_FAULTS)
def test_rubric_says_what_is_wrong(changes: dict[str, Any], flag: Flag, words: str) -> None:
    value = RUBRIC_VALID
    for path, new in changes.items():
        value = changed(value, path, new)

    found, detail = only_finding(parse_invalid("rubric", value))
    assert (found, words in detail) == (flag, True), detail


@each("path", list(RUBRIC_VALID))
def test_rubric_needs_every_field(path: str) -> None:
    flag, detail = only_finding(parse_invalid("rubric", without(RUBRIC_VALID, path)))

    assert flag is (C if path == "task_name" else U)
    assert path in detail


def test_a_reason_of_200_code_points_is_not_too_long() -> None:
    """Astral characters count one each, as they do for a reader."""
    value = changed(RUBRIC_VALID, "reasoning.logic_and_fact", "🌉" * 200)

    assert len(parse_valid("rubric", value).fields["reasons"]["logic_and_fact"]) == 200


def test_a_critical_fail_is_zero_with_a_reason_and_its_own_verdict() -> None:
    failed = {"critical_fail": True, "critical_fail_reason": "Says it collapsed.", "score": ZEROES, "total_score": 0}
    judgment = parse_valid("rubric", {**RUBRIC_VALID, **failed})

    assert (judgment.verdict, judgment.score) == ("critical_fail", 0.0)
    assert judgment.fields["critical_fail"] is True
    assert judgment.fields["critical_fail_reason"] == judgment.fields["comment"] == "Says it collapsed."
    assert judgment.fields["gates"] == {"critical_fail": {"failed": True, "reason": "Says it collapsed."}}


BLANK: dict[str, dict[str, Any]] = {
    "blank": dict.fromkeys(RUBRIC_DIMENSIONS, ""),
    "spaces": dict.fromkeys(RUBRIC_DIMENSIONS, " \u3000"),
    "null": dict.fromkeys(RUBRIC_DIMENSIONS),
    "one of them": {**RUBRIC_VALID["reasoning"], "constraint_adherence": ""},
}


@each("how", BLANK)
def test_a_critical_fail_without_a_reason_for_each_dimension_is_valid_with_a_repair(how: str) -> None:
    """Seed 000 ends the grading there: nothing was graded, so there is nothing to reason."""
    failed = {"critical_fail": True, "critical_fail_reason": "Says it collapsed.", "score": ZEROES, "total_score": 0}
    judgment = parse_valid("rubric", {**RUBRIC_VALID, **failed, "reasoning": BLANK[how]})

    assert (judgment.verdict, judgment.score) == ("critical_fail", 0.0)
    assert judgment.repairs == ("blank_reasons",)
    assert all(reason.strip() for reason in judgment.fields["reasons"].values())


@each("how", BLANK)
def test_without_a_critical_fail_a_reason_is_asked_for(how: str) -> None:
    """Noughts that were graded have to be reasoned."""
    low = {"score": ZEROES, "total_score": 0, "reasoning": BLANK[how]}

    assert parse_invalid("rubric", {**RUBRIC_VALID, **low}).findings


def test_strict_mode_refuses_blank_reasons_like_every_repair() -> None:
    failed = {"critical_fail": True, "critical_fail_reason": "Says it collapsed.", "score": ZEROES, "total_score": 0}
    strict = replace(
        protocol_of("rubric"),
        settings=protocol_of("rubric").settings.model_copy(update={"reply_mode": ReplyMode.STRICT}),
    )
    text = json.dumps({**RUBRIC_VALID, **failed, "reasoning": BLANK["blank"]})
    judgment = strict.parse(Reply(text, "judge"), RUBRIC_SAMPLE)

    assert isinstance(judgment, InvalidJudgment)
    assert [finding.flag for finding in judgment.findings] == [Flag.PROTOCOL_VIOLATION]
    assert "blank_reasons" in judgment.findings[0].detail


def test_a_reason_that_is_missing_is_a_missing_field_also_after_a_critical_fail() -> None:
    failed = {"critical_fail": True, "critical_fail_reason": "Says it collapsed.", "score": ZEROES, "total_score": 0}

    assert parse_invalid("rubric", {**RUBRIC_VALID, **failed, "reasoning": {}}).findings


def test_a_critical_fail_needs_conditions_in_the_task_rubric() -> None:
    """Seed 000, step 2: without conditions there is no critical fail."""
    failed = {"critical_fail": True, "critical_fail_reason": "Bad.", "score": ZEROES, "total_score": 0}
    bare = replace(RUBRIC_SAMPLE, rubric=RUBRIC_TEXT.replace("## Critical Fail Conditions", "## Remarks"))

    flag, detail = only_finding(parse_invalid("rubric", {**RUBRIC_VALID, **failed}, bare))
    assert flag is I
    assert "lists no such conditions" in detail
    inline = replace(RUBRIC_SAMPLE, rubric=f"{bare.rubric}\nCritical fail: says that it collapsed.\n")
    assert parse_valid("rubric", {**RUBRIC_VALID, **failed}, inline)
    assert parse_valid("rubric", {**RUBRIC_VALID, **failed}, replace(RUBRIC_SAMPLE, rubric=None, task_type="fact"))


def test_zero_scores_without_a_critical_fail_are_just_low() -> None:
    judgment = parse_valid("rubric", {**RUBRIC_VALID, "score": ZEROES, "total_score": 0})

    assert (judgment.verdict, judgment.score) == ("scored", 0.0)


@each("name", NAMES)
@each("flag", Flag)
def test_each_flag_can_be_earned_under_each_protocol(name: str, flag: Flag) -> None:
    scores = "score" if name == "rubric" else "scores"
    first = next(iter(VALID[name][scores]))
    identity = {"cross": "meta.output_id", "rubric": "task_name", "letters": "letter"}[name]
    texts = {
        V: changed(VALID[name], f"{scores}.{first}", 99),
        U: changed(VALID[name], f"{scores}.{first}", "high"),
        C: without(VALID[name], identity),
        R: REFUSAL,
        I: changed(VALID[name], identity, "somebody else's"),
    }

    assert flag in {finding.flag for finding in parse_invalid(name, texts[flag]).findings}


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_without_any_score_is_an_evasion(name: str) -> None:
    field = "score" if name == "rubric" else "scores"
    empty = changed(VALID[name], field, dict.fromkeys(VALID[name][field]))
    words = {"cross": "notes", "rubric": "reasoning", "letters": "advice"}[name]
    declined = changed(without(VALID[name], field), words, REFUSAL)

    for value in (empty, declined):
        assert R in {finding.flag for finding in parse_invalid(name, value).findings}


def test_all_objections_are_collected() -> None:
    value = changed(CROSS_VALID, "scores.FORMAT_COMPLIANCE", 9)
    for path, new in (("meta.method", "self_judge"), ("flags", ["OOPS"]), ("evidence.1.quote", "not said at all")):
        value = changed(value, path, new)
    findings = parse_invalid("cross", f"```json\n{json.dumps(value)}\n```").findings

    assert len(findings) == 5
    assert any("code fence" in finding.detail for finding in findings)


@pytest.mark.parametrize("name", NAMES)
def test_repairs_are_recorded_or_refused_by_mode(name: str) -> None:
    fenced = f"```json\n{json.dumps({**VALID[name], 'remark': 1})}\n```"

    assert parse_valid(name, fenced, reply_mode="repair").repairs == ("code_fence", "extra_keys_ignored")
    strict = parse_invalid(name, fenced, reply_mode="strict")
    assert [finding.flag for finding in strict.findings] == [V]


def test_the_label_of_a_bundles_entry_is_no_liberty_of_the_judge() -> None:
    labelled = json.dumps({**CROSS_VALID, "file": "q1.pdf"})
    protocol, sample = protocol_of("cross"), SAMPLES["cross"]

    assert protocol.parse(Reply(labelled, "beta-large", details={"bundle": True}), sample).repairs == ()
    assert protocol.parse(Reply(labelled, "beta-large"), sample).repairs == ("extra_keys_ignored",)


@pytest.mark.parametrize("path", ["remark", "meta.version"])
def test_a_key_that_nobody_asked_for_is_recorded_and_no_objection(path: str) -> None:
    """In strict mode too: neither dimension nor scale is changed (seed 003 §6)."""
    assert parse_valid("cross", changed(CROSS_VALID, path, "1")).repairs == ("extra_keys_ignored",)


def test_a_total_in_the_wrong_place_is_found_and_added_up() -> None:
    inside = {**VALID["letters"]["scores"], "sum": 6}
    value = changed(without(VALID["letters"], "sum"), "scores", inside)
    findings = [(finding.flag, finding.detail) for finding in parse_invalid("letters", value).findings]

    assert findings == [
        (V, 'scores."sum" is no dimension of the protocol'),
        (U, "field missing: sum"),
        (I, "scores.sum is 6, but the scores add up to 7"),
    ]


def test_the_judges_identity_decides_the_method() -> None:
    own = changed(changed(CROSS_VALID, "meta.method", "self_judge"), "meta.judge_model", "alpha-7b")
    judgment = parse("cross", own, judge="vllm:alpha-7b@http://127.0.0.1:8000/v1")

    assert isinstance(judgment, ValidJudgment)
    assert judgment.method is Method.SELF_JUDGE
    assert only_finding(parse_invalid("cross", CROSS_VALID, judge="alpha-7b"))[0] is I


def test_a_judge_that_names_itself_otherwise_is_noted_and_stays_valid() -> None:
    assert parse_valid("cross", CROSS_VALID, judge="openai:gpt-x").fields["warnings"] == [
        "judge_names_itself_otherwise"
    ]
    assert parse_valid("cross", CROSS_VALID, judge="Beta Large").fields["warnings"] == []


def test_a_replayed_reply_without_a_recorded_judge_is_who_it_says_it_is() -> None:
    own = changed(changed(CROSS_VALID, "meta.method", "self_judge"), "meta.judge_model", "alpha-7b")

    assert parse_valid("cross", own, judge="replay").method is Method.SELF_JUDGE
    assert parse_valid("cross", own, judge="replay:replies.jsonl").method is Method.SELF_JUDGE


def test_same_family_is_marked() -> None:
    sample = replace(CROSS_SAMPLE, target_model="gpt-4o")
    value = changed(CROSS_VALID, "meta.target_model", "gpt-4o")

    assert parse_valid("cross", value, sample, judge="openai:gpt-5.2").fields["same_family"] is True
    assert parse_valid("cross", value, sample, judge="anthropic:claude-x").fields["same_family"] is False


@pytest.mark.parametrize("name", NAMES)
def test_rules_never_decide_quality(name: str) -> None:
    assert isinstance(protocol_of(name).decide(SAMPLES[name]), Undecided)
