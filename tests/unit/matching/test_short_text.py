"""The short-text comparer decides by named rules, points at the words that decided, and otherwise stays undecided."""

import time

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each
from tests.examples import many

from mixseek.matching.open_text.short_text import compare_short_text
from mixseek.matching.open_text.text_case import Rule
from mixseek.matching.readings import Decision

_WHO = "who designed the old iron bridge over the river at Marlow"
_WHERE = "in which town was the painter of the blue harbour series born"
_WHEN = "when was the old lighthouse at Cape Wren opened"
_HOW_MANY = "how many steps does the spiral staircase of the old lighthouse at Cape Wren have"
_WHICH = "which novel by the lighthouse keeper of Cape Wren won the northern book prize of 1931"

_NAMES = ["Silver Tern", "Tern of Silver", "Silver Tern (novel)", "Ternen av silver"]

# rule, response, golds, question, the words pointed at
_CORRECT = [
    (Rule.EXACT_ANSWER, "the Silver Tern.", ["Silver Tern"], _WHICH, "Silver Tern"),
    (Rule.EXACT_ANSWER, "Zoë Brontë", ["ZoÃ« BrontÃ«"], _WHO, "Zoë Brontë"),
    (Rule.EXACT_ANSWER, "twenty-one", ["21"], _HOW_MANY, "twenty-one"),
    (Rule.EXACT_ANSWER, "World War 2", ["World War II"], _WHICH, "World War 2"),
    (Rule.EXACT_ANSWER, "the Second World War", ["WWII"], _WHICH, "Second World War"),
    (Rule.EXACT_ANSWER, "U.S.A.", ["the United States of America"], _WHERE, "U.S.A."),
    (Rule.EXACT_ANSWER, "£50 million", ["£50m"], "what did the painting cost", "50 million"),
    (Rule.EXACT_ANSWER, "1,500", ["1500"], _HOW_MANY, "1,500"),
    (Rule.EXACT_ANSWER, "Paul Hale", ["Ann Reed | Paul Hale | Hale, Paul"], _WHO, "Paul Hale"),
    (Rule.CONTAINED, "The bridge was designed by Ada Marsh1.", ["Ada Marsh"], _WHO, "Ada Marsh"),
    (Rule.CONTAINED, "The bridge was designed byAda Marsh[3].", ["Ada Marsh"], _WHO, "Ada Marsh"),
    (Rule.CONTAINED, "It opened on May 5, 1891.", ["1891"], _WHEN, "1891"),
    (Rule.CONTAINED, "It has two hundred and five steps.", ["205"], _HOW_MANY, "two hundred and five"),
    (Rule.CONTAINED, "It is 12.9 kilometres long.", ["12.9 km"], "how long is it", "12.9 kilometres"),
    (Rule.CONTAINED, "答えは京都です。", ["京都"], "都はどこでしたか", "京都"),
    (Rule.CONTAINED, "首都是北京。", ["北京"], "首都是哪里", "北京"),
    (Rule.SAME_DATE, "On the 5th of May 1891.", ["May 5, 1891"], _WHEN, "5th of May 1891"),
    (Rule.SAME_DATE, "It opened on May 5, 18912.", ["May 5, 1891"], _WHEN, "May 5, 18912"),
    (Rule.INFLECTED, "They are sedimentary rocks.", ["sedimentary rock"], "what is it made of", "sedimentary rocks"),
    (Rule.ALL_ITEMS, "Oak, elm and ash", ["elm, ash and oak"], "which three trees grow there", "Oak, elm and ash"),
]

_INCORRECT = [
    (Rule.NO_ANSWER, ":", ["Ada Marsh"], _WHO),
    (Rule.NO_ANSWER, "", ["Ada Marsh"], _WHO),
    (Rule.NO_ANSWER, "Thought process:", ["Ada Marsh"], _WHO),
    (Rule.NO_ANSWER, "Let's solve this step by step", ["Ada Marsh"], _WHO),
    (Rule.REFUSAL, "I'm sorry, I could not find any information on that.", ["Ada Marsh"], _WHO),
    (Rule.REFUSAL, "I'm sorry, but I couldn't find it.", ["Ada Marsh"], _WHO),
    (Rule.REFUSAL, "Unknown.", ["Ada Marsh"], _WHO),
    (Rule.NONE_OF_THE_NAMES, "The Grey Heron", _NAMES, _WHICH),
    (Rule.OTHER_NUMBER, "The spiral staircase of the lighthouse has 312 steps.", ["205"], _HOW_MANY),
    (Rule.NO_DATE, "The opening of the lighthouse has not been announced.", ["May 5, 1891"], _WHEN),
    (Rule.MISSING_ITEM, "They are the Orm and Sund.", ["the Orm, Vell and Tarn"], "What are the three rivers there?"),
    (Rule.OTHER_DATE, "The lighthouse was opened to ships on May 7, 1891.", ["May 5, 1891"], _WHEN),
]

_UNDECIDED = [
    (Rule.DENIED, "It was not Ada Marsh.", ["Ada Marsh"], _WHO),
    (Rule.DENIED, "Ada Marsh didn't design it.", ["Ada Marsh"], _WHO),
    (Rule.DENIED, "Paul Hale rather than Ada Marsh.", ["Ada Marsh"], _WHO),
    (Rule.DENIED, "Ada Marsh. Wait, it was Paul Hale.", ["Ada Marsh"], _WHO),
    (Rule.DENIED, "京都ではありません。", ["京都"], ""),
    (Rule.HEDGED, "As an AI I cannot be certain; Ada Marsh perhaps.", ["Ada Marsh"], _WHO),
    (Rule.ECHOED, "Is Penrill or Oakhaven older", ["Oakhaven"], "is Penrill or Oakhaven older"),
    (Rule.LONGER_NAME, "She lives in New Guinea.", ["Guinea"], "where does she live"),
    (Rule.LONGER_NAME, "Elizabeth II reigned then.", ["Elizabeth"], "who reigned then"),
    (Rule.LONGER_NAME, "答えは東京都です。", ["京都"], ""),
    (Rule.LONGER_NAME, "It is a non-metal.", ["metal"], "what is it"),
    (Rule.LONGER_NAME, "the vice president", ["president"], "who spoke"),
    (Rule.LONGER_NAME, "her mother-in-law", ["mother"], "who came"),
    (Rule.LONGER_NAME, "his great-grandson", ["grandson"], "who came"),
    (Rule.LONGER_NAME, "H2O2", ["H2O"], "which molecule is it"),
    (Rule.LONGER_NAME, "Marsh's brother", ["Marsh"], _WHO),
    (Rule.ONE_OF_SEVERAL, "oak, elm, ash, yew", ["oak, elm, ash"], "which trees are sacred"),
    (Rule.ONE_OF_SEVERAL, "oak, elm but not ash", ["oak, elm, ash"], "which trees are sacred"),
    (Rule.WRONG_KIND, "O(n^2)", ["O(n)"], "how long does it take"),
    (Rule.WRONG_KIND, "-i", ["i"], "what is the root"),
    (Rule.DENIED, "Paul Hale, since the death of his mother, Ada Marsh.", ["Ada Marsh"], _WHO),
    (Rule.NO_RULE, "令和6年3月5日に開かれました。", ["2024年3月5日"], "いつ開かれましたか"),
    (Rule.RIVAL_GOLDS, "Ada Marsh", ["Ada Marsh", "Paul Hale"], "who built the first one"),
    (Rule.TOO_FEW_ITEMS, "oak", ["oak", "elm", "ash"], "what are the three sacred trees"),
    (Rule.WRONG_KIND, "C#", ["C++"], "which language is it"),
    (Rule.WRONG_KIND, "It was -5 degrees.", ["5 degrees"], "how cold was it"),
    (Rule.WRONG_KIND, "Captain Ada Marsh opened it.", ["Ada Marsh", "Dame Ada Marsh", "1891"], _WHEN),
    (Rule.FINER_DATE, "It opened on May 7, 1891.", ["1891", "May 5, 1891"], _WHEN),
    (Rule.COARSER_DATE, "It opened in 1891.", ["May 5, 1891"], _WHEN),
    (Rule.IN_PASSING, "She painted boats. Later a harbour too.", ["harbour"], "what did she love"),
    (Rule.ONE_OF_SEVERAL, "Ada Marsh, Paul Hale", ["Ada Marsh"], _WHO),
    (Rule.ONLY_MENTIONED, "Paul Hale was quicker than Ada Marsh.", ["Ada Marsh"], _WHO),
    (Rule.NO_RULE, "It was John Q. Hale.", ["John F. Hale"], _WHO),
    # Something else of the same kind may be as good, or better than the gold.
    (Rule.NO_RULE, "The bridge was designed by Paul Hale.", ["Ada Marsh"], _WHO),
    (Rule.NO_RULE, "The painter was born in the town of Penrill.", ["Oakhaven"], _WHERE),
    (Rule.NO_RULE, "The novel that won was The Grey Heron.", ["Silver Tern"], _WHICH),
    (Rule.NO_RULE, "The Grey Heron", ["Silver Tern", "Silver Tern (novel)", "Tern"], _WHICH),
    (Rule.NO_RULE, "Willow", ["oak", "elm", "ash", "yew", "lime", "birch", "fir", "rowan"], "which tree is it"),
    # Another form of a name is the same person, or somebody else of the family.
    (Rule.NO_RULE, "It was Bob Hale.", ["Robert Hale"], _WHO),
    (Rule.NO_RULE, "Mr. Hale", ["Robert Hale"], _WHO),
    (Rule.NO_RULE, "Ada Marsh was the engineer.", ["Dame Ada Marsh (engineer)"], _WHO),
    (Rule.NO_RULE, "It is May 7, 1891.", ["May 5, 1891"], _WHEN),
    (Rule.NO_RULE, "The next boat leaves on May 7, 1891 from the pier.", ["May 5, 1891"], "when is the next boat"),
    (Rule.RIVAL_GOLDS, "On the 5th of May 1891.", ["May 5, 1891", "June 7, 1891"], _WHEN),
    (Rule.NO_RULE, "Lu Xun", ["鲁迅"], "《狂人日记》的作者是谁"),
    (Rule.NO_RULE, "It is unknown, but believed to lie far south.", ["a coastal cave"], "where is it"),
    (Rule.NO_RULE, "The lighthouse was opened at the turn of the century.", ["May 5, 1891"], _WHEN),
    (Rule.NO_RULE, "It was opened in the 1890s by the king.", ["1891"], _WHEN),
    (Rule.NO_RULE, "The spiral staircase of the lighthouse has 200 steps.", ["205"], _HOW_MANY),
]


@each(("rule", "response", "gold", "question", "pointed_at"), _CORRECT)
def test_a_gold_that_is_said_is_correct(
    rule: Rule, response: str, gold: list[str], question: str, pointed_at: str
) -> None:
    """The rule names the way in which it was said, and the span is the words themselves."""
    comparison = compare_short_text(response, gold, question=question)

    assert (Decision.CORRECT, rule) == (comparison.decision, comparison.rules[-1])
    assert comparison.span is not None
    assert pointed_at == response[comparison.span.start : comparison.span.end]


@each(("rule", "response", "gold", "question"), _INCORRECT)
def test_nothing_or_something_else_is_incorrect(rule: Rule, response: str, gold: list[str], question: str) -> None:
    """An answer of the wanted kind without anything of the gold is wrong; so is no answer."""
    comparison = compare_short_text(response, gold, question=question)

    assert (Decision.INCORRECT, rule) == (comparison.decision, comparison.rules[-1])


@each(("rule", "response", "gold", "question"), _UNDECIDED)
def test_what_may_be_meant_otherwise_is_undecided(rule: Rule, response: str, gold: list[str], question: str) -> None:
    """Each near miss of a deciding rule is left to the next judge."""
    comparison = compare_short_text(response, gold, question=question)

    assert (Decision.UNDECIDED, rule) == (comparison.decision, comparison.rules[-1])


def test_every_rule_has_an_example() -> None:
    """A rule without an example here is one that nobody has seen fire."""
    shown = {row[0] for row in (*_CORRECT, *_INCORRECT, *_UNDECIDED)}

    assert set(Rule) == shown


@each("filler", [":", "...", "Thought process:", "Solution", "Let's think step by step.", "The answer is"])
@each("gold", ["Ada Marsh", "process", "7", "the answer lies here"])
def test_a_master_key_opens_nothing(filler: str, gold: str) -> None:
    """Announcing an answer is not giving one, whatever the gold is."""
    assert compare_short_text(filler, [gold], question=_WHO).decision is not Decision.CORRECT


def test_an_echo_of_the_question_is_never_correct() -> None:
    """The gold's words stand in the question, so their presence proves nothing."""
    question = "who was older, Ada Marsh or Paul Hale"

    assert compare_short_text(question, ["Ada Marsh"], question=question).decision is Decision.UNDECIDED


def test_the_end_of_a_huge_response_is_read() -> None:
    """Answers stand at the beginning or at the end; the span is in the whole response."""
    response = "We look at each bridge in turn. " * 30_000 + "So the engineer was Ada Marsh."
    comparison = compare_short_text(response, ["Ada Marsh"], question=_WHO)

    assert comparison.decision is Decision.CORRECT
    assert comparison.span is not None
    assert response[comparison.span.start : comparison.span.end] == "Ada Marsh"


def test_nothing_is_missed_in_what_was_not_read() -> None:
    """A response that was not read whole is never held to lack the gold."""
    assert compare_short_text("Paul Hale. " * 100_000, ["Ada Marsh"], question=_WHO).decision is Decision.UNDECIDED


_REPEATED = [
    "a", "a ", "1,", "$1,", "111,", "one ", "hundred ", "A.B.", "not ", "((", "'", "a'", ". ", "東", "年", "e\u0301",
    "April 17, ", "Ada ", "Ada Marsh or ", "isn't ", "\n", "united states ", "is not a b ", "-1 ", "+", "\ud800",
]  # fmt: skip


@each("piece", _REPEATED)
def test_a_million_characters_take_no_longer_than_a_page(piece: str) -> None:
    """No repetition of anything makes the comparer slow; the bound leaves room for a busy machine."""
    response = piece * (1_000_000 // len(piece))

    def seconds() -> float:
        began = time.thread_time()
        for gold, question in (("Ada Marsh", _WHO), ("May 5, 1891", _WHEN), ("205", _HOW_MANY), ("a, b and c", _WHICH)):
            compare_short_text(response, [gold], question=question)
        return time.thread_time() - began

    # Once more where it was slow: a core that others share counts slower.
    assert any(seconds() < 4 * 0.05 for _ in range(4))


@many(80)
@given(
    response=st.text(max_size=200),
    gold=st.lists(st.text(max_size=40), max_size=4),
    question=st.text(max_size=80),
)
def test_any_text_is_compared(response: str, gold: list[str], question: str) -> None:
    """It never raises, and a span lies inside the response."""
    comparison = compare_short_text(response, gold, question=question)

    if comparison.span is not None:
        assert 0 <= comparison.span.start <= comparison.span.end <= len(response)


_TELLING = [
    "Ada", "Marsh", "not", "1891", "May", "5", ",", ".", "or", "twenty", "one", "million", "II", "東京", "年", "’s",
    "$5m", "is", "n't", "(", " | ", "/", "\n", "who", "when", "how many", "United", "States", "V", "é", "ﬁ", "sorry",
]  # fmt: skip
_PIECES = st.sampled_from(_TELLING)


@many(100)
@given(
    st.lists(_PIECES, max_size=25), st.lists(st.lists(_PIECES, max_size=5), max_size=3), st.lists(_PIECES, max_size=8)
)
def test_any_mix_of_telling_pieces_is_compared(response: list[str], gold: list[list[str]], question: list[str]) -> None:
    """The pieces that rules look for, in orders that nobody would write."""
    text = " ".join(response)
    comparison = compare_short_text(text, ["".join(parts) for parts in gold], question=" ".join(question))

    if comparison.span is not None:
        assert 0 <= comparison.span.start < comparison.span.end <= len(text)


@given(st.from_regex(r"[A-Z][a-z]{3,9} [A-Z][a-z]{4,9}", fullmatch=True))
def test_a_name_is_found_in_its_sentence(name: str) -> None:
    """Whatever the name is, a plain sentence that gives it is never judged wrong."""
    comparison = compare_short_text(f"It was designed by {name}.", [name], question=_WHO)

    assert comparison.decision is not Decision.INCORRECT
