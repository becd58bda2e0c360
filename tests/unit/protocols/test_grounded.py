"""Claims of a response: each stands in it, and what decides one stands in the document that is named."""

import json
import os
from dataclasses import replace
from itertools import product, takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent_traces import ClaimVerdict as Planted
from tests.agent_traces import write_traces
from tests.cases import each
from tests.unit.protocols.nonces import NONCES

from mixseek.analysis.labels.form import LabelForm
from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.labels import LabelError
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Context
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.protocols.claims import ClaimVerdict, grounding_of, sentences_of
from mixseek.protocols.registry import load_protocol
from mixseek.testing.mock_replies import Fault, say
from mixseek.testing.prompts import make_prompt

GOLDEN = Path(__file__).parents[2] / "golden" / "prompts"
LANGUAGES = ("en", "ja", "zh")
PROTOCOL = load_protocol("grounded", "en")
CONTEXTS = (
    Context("tides", "High water is at six in the morning. The causeway is dry for two hours."),
    Context("7", "The ferry costs four euros. Children travel free.", "timetable"),
)
SAMPLE = Sample(
    id="island-1",
    question="How do I get to the island?",
    response="The causeway is dry for two hours. The ferry costs five euros! Dogs are welcome.",
    contexts=CONTEXTS,
)


def claim(quote: str, verdict: str, context: Any = None, proof: str | None = None) -> dict[str, Any]:
    return {"claim_quote": quote, "verdict": verdict, "context_id": context, "quote": proof}


DRY = claim("The causeway is dry for two hours", "supported", "tides", "causeway is dry for two hours")
DEAR = claim("ferry costs five euros", "contradicted", "7", "The ferry costs four euros")
DOGS = claim("Dogs are welcome", "not_found")


def parse(*claims: Any, sample: Sample = SAMPLE, **parameters: Any) -> ValidJudgment | InvalidJudgment:
    protocol = load_protocol("grounded", "en", parameters) if parameters else PROTOCOL
    return protocol.parse(Reply(json.dumps({"claims": list(claims), "notes": None}), "judge"), sample)


def findings(*claims: Any, sample: Sample = SAMPLE) -> list[tuple[Flag, str]]:
    judgment = parse(*claims, sample=sample)

    assert isinstance(judgment, InvalidJudgment), judgment
    return [(finding.flag, finding.detail) for finding in judgment.findings]


def valid(*claims: Any, sample: Sample = SAMPLE, **parameters: Any) -> ValidJudgment:
    judgment = parse(*claims, sample=sample, **parameters)

    assert isinstance(judgment, ValidJudgment), judgment
    return judgment


def test_the_score_is_the_share_of_supported_claims_and_a_contradicted_one_is_named() -> None:
    judgment = valid(DRY, DEAR, DOGS)
    first, second, third = judgment.fields["claims"]

    assert (judgment.score, judgment.verdict) == (1 / 3, "UNGROUNDED")
    assert [judgment.fields[verdict.value] for verdict in ClaimVerdict] == [1, 1, 1]
    assert judgment.fields["comment"] == '1 of 3 claims supported; contradicted by 7: "ferry costs five euros"'
    assert judgment.fields["warnings"] == ["contradicted_claim"]
    ((start, end),) = first["spans"]
    assert SAMPLE.response[start:end] == DRY["claim_quote"]
    ((start, end),) = second["context_spans"]
    assert CONTEXTS[1].text[start:end] == DEAR["quote"]
    assert (third["context_id"], third["quote"], third["context_spans"]) == (None, None, [])


def test_all_counts_of_up_to_five_claims_have_the_verdict_of_their_share() -> None:
    words = ["one", "two", "three", "four", "five"]
    proofs = {"supported": ("c", "Yes indeed"), "contradicted": ("c", "Yes indeed"), "not_found": (None, None)}
    for length in range(1, 6):
        response = " ".join(f"Number {word} is here." for word in words[:length])
        sample = replace(SAMPLE, response=response, contexts=(Context("c", "Yes indeed, all of them."),))
        for verdicts in product(ClaimVerdict, repeat=length):
            listed = [
                claim(f"Number {word} is here", verdict, *proofs[verdict])
                for word, verdict in zip(words, verdicts, strict=False)
            ]
            supported = verdicts.count(ClaimVerdict.SUPPORTED)
            expected = "GROUNDED" if supported == length else "PARTIAL" if 2 * supported >= length else "UNGROUNDED"
            judgment = valid(*listed, sample=sample)

            assert (judgment.verdict, judgment.score) == (expected, supported / length)
            assert ("contradicted_claim" in judgment.fields["warnings"]) == (ClaimVerdict.CONTRADICTED in verdicts)


FAULTS = {
    "a claim that is not there": (
        [DRY, DEAR, claim("Cats are welcome", "not_found")],
        'claims[2].claim_quote "Cats are welcome" does not stand in the response (not_found)',
    ),
    "a claim of the question": (
        [DRY, DEAR, claim("get to the island", "not_found")],
        'claims[2].claim_quote "get to the island" does not stand in the response (from_question)',
    ),
    "a document that does not exist": (
        [DRY, {**DEAR, "context_id": "9"}, DOGS],
        'claims[1].context_id "9" names no context; there are "tides", "7"',
    ),
    "a quote from another document": (
        [{**DRY, "context_id": "7"}, DEAR, DOGS],
        'claims[0].quote "causeway is dry for two hours" does not stand in context "7" (from_another_context); '
        'it stands in "tides"',
    ),
    "a quote from nowhere": (
        [DRY, {**DEAR, "quote": "The ferry costs six euros"}, DOGS],
        'claims[1].quote "The ferry costs six euros" does not stand in context "7" (not_found)',
    ),
    "a quote from the response itself": (
        [DRY, {**DEAR, "quote": "Dogs are welcome"}, DOGS],
        'claims[1].quote "Dogs are welcome" does not stand in context "7" (not_found)',
    ),
    "supported by nothing": (
        [claim("The causeway is dry for two hours", "supported"), DEAR, DOGS],
        "claims[0] is supported, but names no context_id and no quote",
    ),
    "contradicted without a quote": (
        [DRY, {**DEAR, "quote": None}, DOGS],
        "claims[1] is contradicted, but names no quote",
    ),
    "a verdict of another word": (
        [DRY, {**DEAR, "verdict": "refuted"}, DOGS],
        'claims[1].verdict is "refuted", expected one of supported, contradicted, not_found',
    ),
}


@each("name", FAULTS)
def test_each_claim_that_cannot_be_verified_has_a_detail_of_its_own(name: str) -> None:
    listed, expected = FAULTS[name]

    assert findings(*listed) == [(Flag.PROTOCOL_VIOLATION, expected)]


def test_an_id_that_is_a_number_may_be_written_as_one() -> None:
    assert valid(DRY, {**DEAR, "context_id": 7}, DOGS).fields["claims"][1]["context_id"] == "7"


def test_a_claim_that_is_not_found_needs_neither_document_nor_quote() -> None:
    assert valid(DRY, DEAR, {**DOGS, "context_id": "nowhere", "quote": "nothing"}).fields["claims"][2]["quote"] is None


def test_quotes_can_be_counted_instead() -> None:
    judgment = valid(DRY, {**DEAR, "quote": "six euros, or seven"}, DOGS, quotes="record")

    assert judgment.fields["claims"][1]["problem"] == "not_found"
    assert judgment.fields["warnings"] == ["contradicted_claim", "unproven_claim"]


def test_a_claim_that_is_listed_twice_counts_once() -> None:
    judgment = valid(DRY, DRY, DEAR, DOGS, {**DRY, "claim_quote": "“The causeway is dry for two hours”"})

    assert (len(judgment.fields["claims"]), judgment.score) == (3, 1 / 3)


def test_one_claim_with_two_verdicts_contradicts_itself() -> None:
    assert findings(DRY, {**DRY, "verdict": "contradicted"}, DEAR, DOGS) == [
        (
            Flag.INTERNAL_INCONSISTENCY,
            'claims: "The causeway is dry for two hours" is supported and contradicted; each claim has one verdict',
        )
    ]


def test_a_list_that_leaves_out_more_than_half_of_the_sentences_is_incomplete() -> None:
    assert findings(DRY) == [
        (
            Flag.INCOMPLETE_COVERAGE,
            'the claims leave out 2 of 3 sentences, the first of them "The ferry costs five euros!"',
        )
    ]
    assert valid(DRY, DEAR).fields["sentences_left_out"] == 1
    four = replace(SAMPLE, response=f"{SAMPLE.response} Bring a coat.")
    assert valid(DRY, DEAR, sample=four).fields["sentences_left_out"] == 2


@each("response", ["", " \n", "…!", "---\n***"])
def test_where_nothing_is_said_there_is_nothing_to_judge(response: str) -> None:
    ((flag, detail),) = findings(sample=replace(SAMPLE, response=response))

    assert (flag, detail) == (
        Flag.INCOMPLETE_COVERAGE,
        "the response is empty, so it claims nothing that could be looked up",
    )


def test_no_claims_of_a_response_that_says_something_is_no_judgment() -> None:
    assert findings() == [(Flag.INCOMPLETE_COVERAGE, "no claims, of a response of 3 sentences")]


@each(
    ("text", "sentences"),
    [
        ("One here. Two there", ["One here.", "Two there"]),
        ("一つ目です。二つ目です！", ["一つ目です。", "二つ目です！"]),
        ("- a point\n- another\n\n---\n", ["- a point", "- another"]),
        ("It costs 3.5 euros.", ["It costs 3.5 euros."]),
        ("", []),
    ],
)
def test_sentences_are_told_by_their_marks(text: str, sentences: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentences_of(text)] == sentences


@given(st.text(max_size=200))
def test_sentences_stand_in_order_in_any_text(text: str) -> None:
    ends = [0]
    for span in sentences_of(text):
        assert ends[-1] <= span.start < span.end <= len(text)
        ends.append(span.end)


def test_claims_of_planted_traces_are_read_as_they_were_planted() -> None:
    """Judgments by the truth of the traces: the share and each verdict are what was planted, in three languages."""
    read = 0
    for planted in write_traces(120):
        if not planted.claims:
            continue
        listed = [claim(one.text, one.verdict.value, one.context, one.quote) for one in planted.claims]
        protocol = load_protocol("grounded", planted.scenario.language, {"least_covered": 0})
        judgment = protocol.parse(Reply(json.dumps({"claims": listed, "notes": ""}), "judge"), planted.sample)

        assert isinstance(judgment, ValidJudgment), judgment
        supported = sum(one.verdict is Planted.SUPPORTED for one in planted.claims)
        assert judgment.score == supported / len(planted.claims)
        read += 1
    assert read > 90


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_mock_answers_validly_and_contradicts_itself_when_told(language: str) -> None:
    protocol = load_protocol("grounded", language)
    for planted in write_traces(40):
        if not planted.sample.response:
            continue
        messages = protocol.messages(planted.sample, NONCES)
        for schema in (protocol.reply_schema, None):
            prompt = make_prompt("mock", [(message.role, message.content) for message in messages], schema)
            reply = say(prompt, None, seed=0, correct_share=0.6)
            assert isinstance(protocol.parse(Reply(reply.text, "mock"), planted.sample), ValidJudgment)
            broken = say(prompt, Fault.INCONSISTENT, seed=0, correct_share=0.6)
            judgment = protocol.parse(Reply(broken.text, "mock"), planted.sample)
            assert isinstance(judgment, InvalidJudgment)


def test_a_sample_without_contexts_is_refused_in_one_line() -> None:
    with pytest.raises(
        DatasetError, match=r"^sample 'island-1' has no contexts, which the grounded protocol judges by"
    ):
        PROTOCOL.messages(replace(SAMPLE, contexts=()), NONCES)


def test_prompts_about_one_question_share_its_documents() -> None:
    """What was given comes before what was made of it, in fences of the question's nonce: endpoints cache it."""
    other = replace(SAMPLE, id="island-2", response="Swim.")
    first, second = (PROTOCOL.messages(sample, NONCES)[1].content for sample in (SAMPLE, other))
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    shared = "".join(character for character, _ in same)

    assert CONTEXTS[1].text in shared
    assert 'CONTEXT_2 is the document with the id "7", from "timetable"' in shared


@each(
    ("parameters", "problem"),
    [
        ({"partial_at_least": 0}, "partial_at_least"),
        ({"least_covered": 1.5}, "least_covered"),
        ({"quotes": "off"}, "quotes"),
        ({"cover": 1}, "cover"),
    ],
)
def test_parameters_out_of_their_range_are_refused(parameters: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"grounded\.toml: parameters\.{problem}"):
        load_protocol("grounded", "en", parameters)


def test_every_parameter_belongs_to_the_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"quotes": "record"},
        {"least_covered": 0.4},
        {"partial_at_least": 0.6},
        {"instructions": "Be strict."},
    ]
    hashes = {PROTOCOL.hash, *(load_protocol("grounded", "en", change).hash for change in changes)}

    assert len(hashes) == len(changes) + 1
    assert grounding_of(0.55, 0.6).value == "UNGROUNDED"


def test_people_label_the_share() -> None:
    form = LabelForm(PROTOCOL, SAMPLE)

    assert form.describe("en") == {"kind": "total", "minimum": 0.0, "maximum": 1.0}
    assert form.read(None, None, 0.75).share == 0.75
    with pytest.raises(LabelError, match="no total; give one from 0 to 1"):
        form.read("correct", None, None)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(["tides", "7"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
claims_drawn = st.fixed_dictionaries(
    {},
    optional={
        "claim_quote": st.sampled_from([DRY["claim_quote"], "Dogs are welcome", "", "…"]) | anything,
        "verdict": st.sampled_from(list(ClaimVerdict)) | anything,
        "context_id": st.sampled_from(["tides", "7", 7]) | anything,
        "quote": st.sampled_from([DRY["quote"], DEAR["quote"]]) | anything,
    },
)


@given(st.lists(claims_drawn | anything, max_size=5) | anything, anything)
def test_parsing_never_raises(listed: Any, notes: Any) -> None:
    outcome = PROTOCOL.parse(Reply(json.dumps({"claims": listed, "notes": notes}), "judge"), SAMPLE)

    assert isinstance(outcome, ValidJudgment) or outcome.findings


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompt_is_the_golden_one(language: str) -> None:
    protocol = load_protocol("grounded", language)
    rendered = "\n".join(f"--- {message.role}\n{message.content}" for message in protocol.messages(SAMPLE, NONCES))
    path = GOLDEN / f"grounded.{language}.txt"
    if os.environ.get("MIXSEEK_UPDATE_GOLDEN"):
        path.write_text(rendered, encoding="utf-8", newline="\n")

    assert rendered == path.read_text(encoding="utf-8")
