"""Any piece of a response is found, however it is rewritten; what is made up is not."""

import random
import time
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.cases import each

from mixseek.matching.evidence.edges import turns_at_an_edge
from mixseek.matching.evidence.folding import fold_quotable, is_inside_number
from mixseek.matching.evidence.quotes import QuoteLocator, QuoteProblem, QuoteStage, locate_quote, weight_of

_WORDS = (
    *("river", "engine", "quiet", "seven", "12.5", "harvest", "the", "is", "of", "a", "cloud-based", "signal,"),
    *("window.", "not", "never", "under", "提示词", "格式", "输出", "事实", "快照，不", "稳定。", "2024年", "モデルの"),
    *("応答は", "正確で、", "ない", "café", "naïve", "straße", "ﬁle", "“quoted”", "**bold**"),
)
responses = st.lists(st.sampled_from(_WORDS), min_size=4, max_size=60).map(" ".join)
anything = st.text(max_size=120)


def folded(text: str) -> str:
    return fold_quotable(text).text.strip()


@given(responses, st.data())
def test_any_piece_of_a_response_is_found(response: str, data: st.DataObject) -> None:
    """At a span that reads the same."""
    start = data.draw(st.integers(0, len(response) - 1))
    end = data.draw(st.integers(start + 1, len(response)))
    quote = response[start:end]
    assume(weight_of(quote) >= 8)
    # Half a number and half of "un-": see the examples of what is not found.
    assume(not (is_inside_number(response, start) or is_inside_number(response, end)))
    blanks = len(quote) - len(quote.lstrip()), len(quote) - len(quote.rstrip())
    assume(not turns_at_an_edge(response, start + blanks[0], end - blanks[1]))

    finding = locate_quote(quote, response)

    assert QuoteStage.EXACT is finding.stage
    assert [quote.strip()] == [response[span.start : span.end] for span in finding.spans]


_REWRITINGS = {
    "upper case": str.upper,
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "broken lines": lambda text: text.replace(" ", "\n"),
    "wide spaces": lambda text: text.replace(" ", " \u3000\t"),
    "zero width": "\u200b".join,
    "emphasis": lambda text: f"**{text}**",
    "quotation marks": lambda text: f"「{text}」",
    "label": lambda text: f"Quote: {text}",
    "citation": lambda text: f"{text} [cite: 3, 4]",
    "bullet": lambda text: f"- {text}",
}


@pytest.mark.parametrize("rewrite", _REWRITINGS.values(), ids=_REWRITINGS)
@given(data=st.data())
@settings(max_examples=15)
def test_any_rewriting_of_whole_words_is_found(rewrite: object, data: st.DataObject) -> None:
    """In the quote or in the response: the folding is the same on both sides."""
    assert callable(rewrite)
    words = data.draw(st.lists(st.sampled_from(_WORDS), min_size=4, max_size=40))
    first = data.draw(st.integers(0, len(words) - 2))
    piece = " ".join(words[first : data.draw(st.integers(first + 2, len(words)))])
    response = " ".join(words)
    # Behind a negation it would be another statement; quotation marks around it are no part of it.
    start = len(" ".join(words[:first])) + min(first, 1) + len(piece) - len(piece.lstrip("“*"))
    end = start + len(piece.strip("“”*"))
    assume(weight_of(piece) >= 8 and not turns_at_an_edge(response, start, end))

    finding = locate_quote(rewrite(piece), response)

    assert finding.stage in {QuoteStage.EXACT, QuoteStage.FOLDED}
    assert [folded(piece)] == [folded(response[span.start : span.end]) for span in finding.spans]


@given(responses, st.lists(st.sampled_from(_WORDS), min_size=6, max_size=20).map(" ".join))
def test_a_found_quote_says_what_the_response_says(response: str, quote: str) -> None:
    """A sentence from the same words, in whatever order: found only where it stands, numbers and negations alike."""
    finding = locate_quote(quote, response)

    if finding.stage is None:
        assert finding.problem is QuoteProblem.NOT_FOUND
    else:
        found = folded(" ".join(response[span.start : span.end] for span in finding.spans))
        assert _facts(found) == _facts(folded(quote))


def _facts(text: str) -> tuple[int, ...]:
    return tuple(text.count(fact) for fact in ("12.5", "seven", "2024", "not", "never", "不", "ない"))


_CHANGES = {
    "a digit": ("in 1987", "in 1986"),
    "a decimal point": ("4.25 million", "42.5 million"),
    "a magnitude": ("million", "billion"),
    "a negation less": ("did not reach", "did reach"),
    "a negation more": ("was signed", "was not signed"),
    "a contraction": ("could repay", "couldn't repay"),
    "a negating prefix": ("lawful", "unlawful"),
    "an antonym": ("increased", "decreased"),
    "a person": ("Marta Quill", "Marta Quinn"),
    "a short word": ("before the vote", "after the vote"),
    "a quantifier": ("all members", "few members"),
    "a sign": ("+3 points", "-3 points"),
    "a letter of a short word": ("harbour board", "harbour beard"),
    "a unit": ("tons", "tonnes"),
    "a swapped pair": ("the council over the guild", "the guild over the council"),
}
_RECORD = (
    "The treaty was signed in 1987 by Marta Quill, who led the council over the guild for years. It was lawful, "
    "the budget increased to 4.25 million, and all members of the harbour board could repay their shares in tons "
    "of grain before the vote, although the southern fleet did not reach the coast and lost +3 points."
)


@each(("said", "claimed"), _CHANGES.values())
def test_one_changed_fact_in_a_long_quote_is_not_forgiven(said: str, claimed: str) -> None:
    """However long the rest is, and however few letters the change takes."""
    assert said in _RECORD
    forged = _RECORD.replace(said, claimed)
    sentence = next(part for part in forged.split(". ") if claimed in part)

    assert QuoteProblem.NOT_FOUND is locate_quote(forged, _RECORD).problem
    assert QuoteProblem.NOT_FOUND is locate_quote(sentence, _RECORD).problem


_CHINESE = "该方案不适用于低温环境，实验共进行了24次，平均误差为3.2毫米，所有结果均由第三方机构独立验证。"


@pytest.mark.parametrize(
    ("said", "claimed"),
    [("不适用", "适用"), ("24次", "42次"), ("3.2", "2.3"), ("低温", "高温"), ("所有", "部分"), ("均由", "未由")],
)
def test_one_changed_character_can_turn_a_chinese_sentence_round(said: str, claimed: str) -> None:
    """So none is forgiven; punctuation and a particle are."""
    assert QuoteProblem.NOT_FOUND is locate_quote(_CHINESE.replace(said, claimed), _CHINESE).problem
    assert QuoteStage.FUZZY is locate_quote(_CHINESE.replace("，", " ").replace("误差为", "的误差为"), _CHINESE).stage


@given(anything, anything, anything, anything)
def test_locating_never_raises(quote: str, response: str, question: str, rubric: str) -> None:
    """A span or a problem, never both, and spans lie inside the response."""
    finding = QuoteLocator(response, question, rubric).locate(quote)

    assert (finding.problem is None) == bool(finding.spans) == (finding.stage is not None)
    assert all(0 <= span.start < span.end <= len(response) for span in finding.spans)


def _megabyte(kind: str) -> str:
    rng = random.Random(7)
    match kind:
        case "words":
            return " ".join(rng.choices(_WORDS, k=160_000))
        case "one letter":
            return "a" * 1_000_000
        case "brackets":
            return "[" * 500_000 + "]" * 500_000
        case _:
            return "ab " * 333_333


@pytest.mark.parametrize("kind", ["words", "one letter", "brackets", "two letters"])
@pytest.mark.parametrize(
    "quote",
    ["a" * 19_000 + "b", "ab " * 6_000 + "c", "x … " * 40, "…".join(["abab"] * 16), "[" * 18_000, "b" * 900_000],
    ids=["letters", "words", "ellipses", "segments", "brackets", "huge"],
)
def test_no_text_makes_the_search_slow(kind: str, quote: str) -> None:
    """A megabyte in well under the second that anything quadratic would take many times over."""
    response = _megabyte(kind)
    started = time.process_time()
    locate_quote(quote, response)

    assert time.process_time() - started < 2.0


_RUNS = (
    *("-", " ", ".", "…", "\n", "\n ", "[", "(", ")", "|", " | ", '"', "'", "\\", "*", "_", "#", ">", "!", "<think>"),
    *("```", "- ", "\n-", "1. ", " 1", "a-", "-a", "!a", "[cite", "【1", "不", "ない", "n't ", "e\u0301", "\u200b"),
)


@pytest.mark.thorough
@pytest.mark.parametrize("run", _RUNS)
def test_a_long_run_of_anything_costs_time_in_proportion(run: str) -> None:
    """60 KB of it in the response, 20 KB in the quote. A quadratic pattern is found out before it takes minutes."""
    quote = run * (19_000 // len(run))
    for size, seconds in ((20_000, 4.0), (60_000, 8.0)):
        response = "The pump is quiet. " + run * (size // len(run))
        started = time.process_time()
        for one in (quote, f"The pump {quote} is loud", "The pump is … quiet indeed", f"a{quote}"):
            for text in (response, response[::-1]):
                locate_quote(one, text)
                assert time.process_time() - started < seconds
