"""The token of the verdict, and no other; every way of cutting a value into tokens, and what cannot be read."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each
from tests.unit.protocols.token_lists import Piece, entry, text_of, token_list

from mixseek.judges.endpoint.logprobs import MISALIGNED, NO_TOKENS, compact_logprobs
from mixseek.protocols.replies.token_shares import FieldShares, UnusableError, read_shares, spelt_integers

VERDICT = {"correct": "true", "incorrect": "false"}
PAIR = {"A": "A", "B": "B", "tie": "tie"}
WORDS = {"correct": "correct", "incorrect": "incorrect", "partially correct": "partially correct"}
ALPACA = Path(os.environ.get("MIXSEEK_SHARED", Path(__file__).parents[4] / "shared")) / "data"
TO_TEN = spelt_integers(0, 10) or {}


def shares_in(pieces: Sequence[Piece], options: Mapping[str, str], given: str, field: str = "v") -> FieldShares:
    return shares_among(text_of(pieces), token_list(pieces), options, given, field)


def shares_among(text: str, tokens: Any, options: Mapping[str, str], given: str, field: str = "v") -> FieldShares:
    """As judge and protocol together do it; the tokens go through the journal's JSON on the way."""
    path = tuple(field.split("."))
    kept = json.loads(json.dumps(compact_logprobs(text, tokens, [path])))
    if "problem" in kept:
        raise UnusableError(kept["problem"])
    return read_shares(kept["fields"].get(field, {}), options, given)


# Name: the pieces, the options, what was given, the share of it, and what was outside.
Case = tuple[Sequence[Piece], Mapping[str, str], str, float, float]
READ: dict[str, Case] = {
    "a bare word": (['{"v":', (" true", {" true": 0.8, " false": 0.2}), "}"], VERDICT, "correct", 0.8, 0.0),
    "spellings of one option are one": (
        ['{"v":', (" true", {" true": 0.5, "true": 0.2, " True": 0.1, " false": 0.2}), "}"],
        VERDICT, "correct", 0.8, 0.0,
    ),
    "a quoted spelling is the same option": (
        ['{"v":', (" true", {" true": 0.6, ' "true': 0.1, " false": 0.3}), "}"], VERDICT, "correct", 0.7, 0.0,
    ),
    "the mass outside is kept, and not counted": (
        ['{"v":', (" true", {" true": 0.6, " false": 0.2, " null": 0.15, " [": 0.05}), "}"],
        VERDICT, "correct", 0.75, 0.2,
    ),
    "the colon in the value's token": (
        ['{"v', ('": true', {'": true': 0.7, '": false': 0.3}), "}"], VERDICT, "correct", 0.7, 0.0,
    ),
    "quote and word apart": (
        ['{"v": ', '"', ("A", {"A": 0.55, "B": 0.35, "tie": 0.1}), '"}'], PAIR, "A", 0.55, 0.0,
    ),
    "quote and word in one token": (
        ['{"v":', (' "A', {' "A': 0.55, ' "B': 0.35, ' "tie': 0.1}), '"}'], PAIR, "A", 0.55, 0.0,
    ),
    "the whole value in one token": (
        ['{"v":', (' "A"', {' "A"': 0.5, ' "B"': 0.3, ' "tie"': 0.2}), "}"], PAIR, "A", 0.5, 0.0,
    ),
    "another way to begin the value counts with this one": (
        ['{"v":', (' "', {' "': 0.9, '"': 0.1}), ("B", {"A": 0.4, "B": 0.6}), '"}'], PAIR, "B", 0.6, 0.0,
    ),
    "options beside the quotation mark": (
        ['{"v":', (' "', {' "': 0.5, ' "A': 0.5}), ("B", {"A": 0.4, "B": 0.6}), '"}'], PAIR, "B", 0.3, 0.0,
    ),
    "words of several tokens: the first that tells them apart": (
        ['{"v": "', ("in", {"in": 0.3, "correct": 0.6, "part": 0.1}), "correct", '"}'], WORDS, "incorrect", 0.3, 0.0,
    ),
    "a word that begins another one is settled by its end": (
        ['{"v": "', ("partially", {"partially": 0.5, "correct": 0.5}), (" correct", {" correct": 1.0}), '"}'],
        WORDS, "partially correct", 0.5, 0.0,
    ),
    "a digit": (['{"v": ', ("7", {"7": 0.6, "8": 0.3, "6": 0.1}), "}"], TO_TEN, "7", 0.6, 0.0),
    "ten in one token": (['{"v": ', ("10", {"10": 0.9, "9": 0.1}), "}"], TO_TEN, "10", 0.9, 0.0),
    "ten digit by digit": (
        ['{"v": ', ("1", {"1": 0.8, "9": 0.2}), ("0", {"0": 0.75, "}": 0.25}), "}"], TO_TEN, "10", 0.6, 0.0,
    ),
    "one, where ten begins alike": (
        ['{"v": ', ("1", {"1": 0.8, "9": 0.2}), ("}", {"0": 0.75, "}": 0.25})], TO_TEN, "1", 0.2, 0.0,
    ),
    "a number that goes on is another one": (
        ['{"v": ', ("2", {"2": 0.7, "2.5": 0.2, "3": 0.1}), "}"], {"2": "2", "3": "3"}, "2", 0.875, 0.2,
    ),
    "case tells options apart where nothing else does": (
        ['{"v": "', ("m", {"m": 0.7, "M": 0.3}), '"}'], {"m": "m", "M": "M"}, "m", 0.7, 0.0,
    ),
    "a token that was drawn from beyond the likeliest": (
        ['{"v": ', ("false", {"true": 0.9}), "}"], VERDICT, "incorrect", 1 / 1.9, 0.0,
    ),
    "characters of several bytes": (
        ['{"v": "', ("正", {"正": 0.6, "误": 0.4}), '确"}'], {"right": "正确", "wrong": "误"}, "right", 0.6, 0.0,
    ),
    "what is above a whole by rounding": (
        ['{"v": ', ("true", {"true": 0.7, "false": 0.31}), "}"], VERDICT, "correct", 0.7 / 1.01, 0.0,
    ),
}  # fmt: skip


@each(("pieces", "options", "given", "share", "outside"), READ.values())
def test_the_share_of_what_was_given(
    pieces: Sequence[Piece], options: Mapping[str, str], given: str, share: float, outside: float
) -> None:
    """Over all options, whatever the tokens; all shares are there."""
    if given == "incorrect" and share > 0.5 and options is VERDICT:
        # The token's own probability stands beside its alternatives.
        tokens = token_list(pieces)
        tokens[1]["logprob"] = math.log(0.1)
        found = shares_among(text_of(pieces), tokens, options, given)
        share = 0.1
    else:
        found = shares_in(pieces, options, given)

    assert found.shares[given] == pytest.approx(share, abs=1e-5)
    assert found.outside == pytest.approx(outside, abs=1e-5)
    assert set(found.shares) == set(options)
    assert math.fsum(found.shares.values()) == pytest.approx(1)


def test_the_first_digit_of_the_reasoning_is_not_the_score() -> None:
    """Nor is that of a thought, of a comment, or of a key; the same name elsewhere is another field."""
    pieces: list[Piece] = [
        "<think>", ("9", {"9": 1.0}), ' of them, so {"v": ', ("1", {"1": 0.9, "0": 0.1}), "} or so.</think>",
        '{"comment": "it is ', ("3", {"3": 1.0}), ' of 5, \\"v\\": ', ("4", {"4": 1.0}), '", "inner": {"v": ',
        ("5", {"5": 1.0}), '}, "list": [{"v": ', ("6", {"6": 1.0}), '}], "v": ',
        ("2", {"2": 0.7, "3": 0.2, "4": 0.1}), "}",
    ]  # fmt: skip
    options = spelt_integers(0, 9) or {}

    assert shares_in(pieces, options, "2").shares["3"] == pytest.approx(0.2, abs=1e-6)
    assert shares_in(pieces, options, "5", "inner.v").shares["5"] == pytest.approx(1.0)


@pytest.mark.parametrize("before", ["", "Let me think.\n", '{"v": true} first.\n', '{"v": false} one might say. '])
def test_tokens_of_a_thought_that_the_endpoint_took_off_are_passed_over(before: str) -> None:
    """vLLM gives the probabilities of all tokens, and the text without the thought; marks stand behind it."""
    pieces: list[Piece] = ['{"v":', (" true", {" true": 0.8, " false": 0.2}), "}"]
    tokens = [*token_list([before] if before else []), *token_list(pieces), *token_list(["<|eot_id|>"])]

    found = shares_among(text_of(pieces), tokens, VERDICT, "correct")

    assert found.shares["correct"] == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("has_bytes", [True, False])
def test_tokens_that_are_parts_of_characters_keep_the_places_of_the_others(has_bytes: bool) -> None:
    """A part is replaced in its text; where endpoints give no bytes, the next token says where the character ends."""
    face = "🙂".encode()
    halves = [{**entry(part, 1.0), "top_logprobs": [entry(part, 1.0)]} for part in (face[:2], face[2:])]
    before: list[Piece] = ['{"comment": "well ']
    after: list[Piece] = [' done", "v": ', ("true", {"true": 0.6, "false": 0.4}), "}"]
    tokens = [*token_list(before), *halves, *token_list(after)]
    if not has_bytes:
        tokens = json.loads(json.dumps(tokens), object_hook=lambda item: {**item, "bytes": None})

    found = shares_among(text_of(before) + "🙂" + text_of(after), tokens, VERDICT, "correct")

    assert found.shares["correct"] == pytest.approx(0.6, abs=1e-6)


@pytest.mark.parametrize(
    "wrap",
    ["{}", "```json\n{}\n```", "Here it is: {} That is all.", "<think>1 or 0?</think>\n{}", "  {}\n{}", "\ufeff{}"],
)
def test_whatever_the_reader_repairs_is_found(wrap: str) -> None:
    """Fences, prose, thoughts and copies around the object change nothing."""
    pieces: list[Piece] = ['{"v":', (" true", {" true": 0.8, " false": 0.2}), ",}"]
    parts = wrap.split("{}")
    whole: list[Piece] = [parts[0]] if parts[0] else []
    for part in parts[1:]:
        whole += [*pieces, *([part] if part else [])]

    assert shares_in(whole, VERDICT, "correct").shares["correct"] == pytest.approx(0.8, abs=1e-6)


def test_of_a_key_that_is_given_twice_the_first_was_drawn_and_the_second_copied() -> None:
    """A copy is certain, and says nothing of the draw."""
    drawn, copied = (" true", {" true": 0.8, " false": 0.2}), (" true", {" true": 1.0})
    pieces: list[Piece] = ['{"v":', drawn, ', "comment": "", "v":', copied, "}"]

    assert shares_in(pieces, VERDICT, "correct").shares["correct"] == pytest.approx(0.8, abs=1e-6)


TOKENS = token_list(['{"v":', (" true", {" true": 0.8, " false": 0.2}), "}"])
TEXT = '{"v": true}'


def changed(**changes: Any) -> list[dict[str, Any]]:
    return [TOKENS[0], {**TOKENS[1], **changes}, TOKENS[2]]


# Name: the text, what stands under `logprobs.content`, and why there is no number.
UNUSABLE: dict[str, tuple[str, Any, str]] = {
    "nothing": (TEXT, None, NO_TOKENS),
    "an empty list": (TEXT, [], NO_TOKENS),
    "a text": (TEXT, "0.8", NO_TOKENS),
    "the old shape: parallel lists": (TEXT, {"tokens": ["true"], "token_logprobs": [-0.1]}, NO_TOKENS),
    "tokens of another text": ('{"v": false}', TOKENS, MISALIGNED),
    "the end is missing": (TEXT, TOKENS[:2], MISALIGNED),
    "the beginning is missing": (TEXT, TOKENS[1:], MISALIGNED),
    "one is missing in the middle": (TEXT, [TOKENS[0], TOKENS[2]], MISALIGNED),
    "numbers in the place of tokens": (TEXT, [1, 2, 3], MISALIGNED),
    "tokens without text": (TEXT, [{"logprob": -0.1}], MISALIGNED),
    "ids in the place of texts": (TEXT, [entry("token_id:318", 0.9, top_logprobs=[])], MISALIGNED),
    "no alternatives": (TEXT, changed(top_logprobs=[]), "without alternatives"),
    "alternatives are null": (TEXT, changed(top_logprobs=None), "without alternatives"),
    "alternatives are an object": (TEXT, changed(top_logprobs={"true": -0.1}), "without alternatives"),
    "only itself among them": (TEXT, changed(top_logprobs=[entry(" true", 0.8)]), "too much open"),
    "a log probability above nothing": (TEXT, changed(top_logprobs=[entry(" true", 0.8, logprob=0.4)]), "log prob"),
    "a probability for its logarithm": (TEXT, changed(top_logprobs=[entry(" true", 0.8, logprob=0.8)]), "log prob"),
    "a logarithm that is a text": (TEXT, changed(top_logprobs=[entry(" true", 0.8, logprob="-0.2")]), "log prob"),
    "a logarithm that is null": (TEXT, changed(top_logprobs=[entry(" true", 0.8, logprob=None)]), "log prob"),
    "a logarithm that is true": (TEXT, changed(top_logprobs=[entry(" true", 0.8, logprob=True)]), "log prob"),
    "alternatives of more than one": (
        TEXT, changed(top_logprobs=[entry(" true", 0.8), entry(" false", 0.7)]), "add up to 1.5",
    ),
    "every alternative is nothing": (
        TEXT, changed(logprob=-9999.0, top_logprobs=[entry(" true", 0.8, logprob=-9999.0)] ), "without alternatives",
    ),
    "an option that is on no alternative": (
        TEXT, changed(top_logprobs=[entry(" true", 0.5), entry(" null", 0.3)], logprob=math.log(0.5)), "too much open",
    ),
    "the beginning of several options": (
        '{"v": 7}', token_list(['{"v": ', ("7", {"7": 0.6, "1": 0.4}), "}"]), "too much open",
    ),
    "the field is not there": ('{"w": true}', token_list(['{"w": true}']), "no tokens"),
    "the value is a list": ('{"v": [true]}', token_list(['{"v": [true]}']), "no tokens"),
    "no object at all": ("true", token_list(["true"]), "no tokens"),
    "a value that is no option": ('{"v": maybe}', token_list(['{"v": ', "maybe", "}"]), "no tokens"),
    "a text that is no option": ('{"v": "maybe"}', token_list(['{"v": "', "maybe", '"}']), "is none of"),
}  # fmt: skip


@each(("text", "tokens", "reason"), UNUSABLE.values())
def test_what_cannot_be_read_is_a_reason_and_never_a_number(text: str, tokens: Any, reason: str) -> None:
    """Not the raw score, not the token's own probability."""
    options = TO_TEN if "7" in text else VERDICT
    with pytest.raises(UnusableError) as raised:
        shares_among(text, tokens, options, "7" if "7" in text else "correct")

    assert reason in str(raised.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=12,
    )
)
def test_nothing_that_an_endpoint_writes_raises_anything_else(given: Any) -> None:
    """Whatever stands there is tokens, or a reason."""
    kept = compact_logprobs(TEXT, given, [("v",)])
    documents = [kept, {"tokens": given}, *([given] if isinstance(given, dict) else [])]
    for document in documents:
        with pytest.raises(UnusableError):
            read_shares(document, VERDICT, "correct")


def test_only_what_the_verdict_needs_is_kept() -> None:
    """A few tokens of a reply of hundreds, and no alternatives that are next to nothing."""
    noise: list[Piece] = [(f"word{number} ", {f"word{number} ": 1.0}) for number in range(300)]
    value = (" true", {" true": 0.6, " false": 0.4 - 1e-9, " x": 1e-9})
    pieces: list[Piece] = ['{"comment": "', *noise, '", "v":', value, "}"]

    kept = compact_logprobs(text_of(pieces), token_list(pieces), [("v",)])

    near = partial(pytest.approx, abs=1e-6)
    alternatives = [[" true", near(math.log(0.6))], [" false", near(math.log(0.4))]]
    value_token = [" true", 0, near(math.log(0.6)), alternatives]
    assert kept == {"fields": {"v": {"tokens": [value_token, ["}", 5, 0.0, [["}", 0.0]]]]}}}


@pytest.mark.skipif(not ALPACA.is_dir(), reason="the shared data are not here")
def test_real_tokens_come_to_the_preference_that_their_source_read() -> None:
    """A judge that answered with one of two letters, and nothing else: 1 or 2 by the share of the letter."""
    lines = (ALPACA / "judge_outputs_alpacaeval.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    compared = 0
    for row in rows:
        raw = json.loads(row["raw_output"]) if row["judge_name"] == "weighted_alpaca_eval_gpt4_turbo" else {}
        if not {"m", "M"} & {raw.get("token")}:
            continue
        top = [[token, logprob] for token, logprob in raw["top_logprobs"].items()]
        document = {"tokens": [[raw["token"], 0, raw["top_logprobs"][raw["token"]], top]]}
        found = read_shares(document, {"m": "m", "M": "M"}, raw["token"])
        # Which letter stood for which of the two was drawn, and is not in the file.
        assert abs(found.shares["M"] - 0.5) == pytest.approx(abs(row["parsed_by_source"] - 1.5), abs=1e-3)
        compared += 1

    assert compared > 200
