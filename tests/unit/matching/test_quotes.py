"""A quote is found where it stands, at the mildest stage that explains it, or a reason is given."""

import pytest
from tests.cases import each

from mixseek.domain.judgments import Span
from mixseek.matching.evidence.quotes import QuoteFinding, QuoteLocator, QuoteProblem, QuoteStage, locate_quote

REPORT = (
    "Summary: the new pump is not quieter, but it used 12.5 percent less power in 2024.\n"
    "We tested it for three weeks in Osaka. “Every bearing was replaced”, the engineers noted in the well-\n"
    "known log. The committee recommended a thorough review of every single experiment.\n"
)
# As text comes out of a PDF: radicals for ideographs, and a line break inside a sentence.
PDF = "1.[事实快照]\n⻓提⽰词在多次调⽤时\n会偏离格式，⻚⾯也会变化。"


def quoted(finding: QuoteFinding, text: str) -> list[str]:
    return [text[span.start : span.end] for span in finding.spans]


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("used 12.5 percent less power", "used 12.5 percent less power"),
        ("  used 12.5 percent\n", "used 12.5 percent"),
    ],
)
def test_a_literal_quote_is_exact(quote: str, expected: str) -> None:
    """Only the blanks around a quote do not count as part of it."""
    finding = locate_quote(quote, REPORT)

    assert (QuoteStage.EXACT, None, [expected]) == (finding.stage, finding.problem, quoted(finding, REPORT))


@each(
    ("quote", "text", "expected"),
    [
        ("长提示词在多次调用时会偏离格式", PDF, "⻓提⽰词在多次调⽤时\n会偏离格式"),
        ("格式,页面也会", PDF, "格式，⻚⾯也会"),
        ("1. [ 事实快照 ]", PDF, "1.[事实快照]"),
        ("'Every bearing was replaced'", REPORT, "Every bearing was replaced"),
        ("the well-known log", REPORT, "the well-\nknown log"),
        ("**Summary:** the *new* pump", REPORT, "Summary: the new pump"),
        ("Quote: the engineers noted", REPORT, "the engineers noted"),
        ("引用：每个轴承", "结论：每个轴承都换了", "每个轴承"),
        ("ＳＵＭＭＡＲＹ： THE NEW PUMP", REPORT, "Summary: the new pump"),
        ('replaced\\", the engineers', REPORT, "replaced”, the engineers"),
        ("in 2024.\\nWe tested", REPORT, "in 2024.\nWe tested"),
        ("an international prize", "She won an inter-\nnational prize.", "an inter-\nnational prize"),
        ("about 5kg of flour", "Take about 5 kg of flour.", "about 5 kg of flour"),
        ("a fine office", "It is a \ufb01ne of\u00ad\ufb01ce.", "a \ufb01ne of\u00ad\ufb01ce"),
        ("ガラスの\u200b破片", "床にｶﾞﾗｽの破片", "ｶﾞﾗｽの破片"),
        ("café crème", "Un cafe\u0301 cre\u0300me.", "cafe\u0301 cre\u0300me"),
    ],
)
def test_a_quote_written_otherwise_is_folded(quote: str, text: str, expected: str) -> None:
    """Width, radicals, spaces, quotation marks, emphasis, ligatures and case say nothing else."""
    finding = locate_quote(quote, text)

    assert (QuoteStage.FOLDED, [expected]) == (finding.stage, quoted(finding, text))


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("We tested it … in Osaka", ["We tested it", "in Osaka"]),
        ("…tested it for three weeks...", ["tested it for three weeks"]),
        ("the new pump [...] three weeks ... every single experiment", None),
        ("three weeks | thorough review", ["three weeks", "thorough review"]),
        ("three weeks\nthorough review", ["three weeks", "thorough review"]),
        ("thorough review ... three weeks", []),
    ],
)
def test_pieces_around_an_ellipsis_are_found_in_order(quote: str, expected: list[str] | None) -> None:
    """Each piece has its span; in another order it is no quotation."""
    finding = locate_quote(quote, REPORT)

    if expected is None:
        assert QuoteStage.SEGMENTS is finding.stage
    elif expected:
        assert (QuoteStage.SEGMENTS, expected) == (finding.stage, quoted(finding, REPORT))
    else:
        assert QuoteProblem.NOT_FOUND is finding.problem


@pytest.mark.parametrize(
    "quote",
    [
        "committee recommended thorough review of every single experiment",
        "The committee recommended: a thorough review, of every single experiment!",
    ],
)
def test_a_harmless_slip_is_forgiven_and_named(quote: str) -> None:
    """Punctuation, an article: fuzzy, never exact."""
    finding = locate_quote(quote, REPORT)

    assert QuoteStage.FUZZY is finding.stage
    assert quoted(finding, REPORT)[0].endswith("every single experiment")


@each(
    "quote",
    [
        "the new pump is quieter, but it used 12.5 percent less power",
        "the new pump is not quieter, but it used 13.5 percent less power in 2024",
        "the new pump is not quieter, but it used 12.5 percent less power in 2025",
        "the new pump is not quieter, but it used 12.5 percent more power in 2024",
        "We tested it for three weeks in Kyoto",
        "We never tested it for three weeks in Osaka",
        "the new pump is … quieter",
        "The committee rejected a thorough review of every single experiment",
        "every single experiment was recommended by the committee",
        "The committee recomended a thorough review of every single experiment",
        "The committee recommended a tho rough review of every single experiment",
        "tested it for three week sin Osaka and never",
    ],
)
def test_what_the_response_does_not_say_is_not_found(quote: str) -> None:
    """A number, a negation, a word: none of them is a slip."""
    assert QuoteFinding(problem=QuoteProblem.NOT_FOUND) == locate_quote(quote, REPORT)


@pytest.mark.parametrize("gap", [" not ", " not\n", " 3.5 kg and never ", " hardly ever "])
def test_an_ellipsis_hides_no_negation_of_its_sentence(gap: str) -> None:
    """Left out between sentences it may be anything."""
    assert QuoteProblem.NOT_FOUND is locate_quote("the pump is … good", f"So the pump is{gap}good.").problem
    assert QuoteStage.SEGMENTS is locate_quote("the pump is … good", f"So the pump is here.{gap}bad, good.").stage


@each(
    ("quote", "response"),
    [
        ("about 102 of the cells in the sample", "There were about 10² of the cells in the sample."),
        ("the whole project cost 12", "In the end the whole project cost 12.5 million."),
        ("000 people came to see it", "More than 25,000 people came to see it."),
        ("lawful for the whole of the team", "It was unlawful for the whole of the team."),
        ("does the engine start when it is cold?", "In short, does the engine start when it is cold."),
        ("1 2 grams of salt in the water", "Put 12 grams of salt in the water."),
        ("this is a notable step for the whole team", "So this is a not able step for the whole team."),
        ("we are now here near the end of the road", "Yes, we are nowhere near the end of the road."),
    ],
)
def test_joining_and_lowering_do_not_make_other_words(quote: str, response: str) -> None:
    """Spaces separate numbers and negations; what is raised is not on the line."""
    assert QuoteProblem.NOT_FOUND is locate_quote(quote, response).problem


@each(
    ("quote", "response"),
    [
        ("The dose that the guideline proscribed for adults", "The dose that the guideline prescribed for adults."),
        ("a causal remark about the whole of the matter", "It was a casual remark about the whole of the matter."),
        ("a desert with cream and a glass of cold water", "We had a dessert with cream and a glass of cold water."),
        ("it is apart of the whole of the old machine", "So it is a part of the whole of the old machine."),
        ("launch the rocket if ready and then go on", "launch the rocket if !ready and then go on"),
        ("launch the rocket if (ready) and then go on", "launch the rocket if (!ready) and then go on"),
        ("stop the loop when count = 5 and then go on", "stop the loop when count != 5 and then go on"),
        ("stop the loop when a & b are set and then go on", "stop the loop when a && !b are set and then go on"),
        ("the result of a + b / c is what we then take", "the result of (a + b) / c is what we then take"),
        ("it fell to 5 degrees in the night of the storm", "it fell to -5 degrees in the night of the storm"),
        ("it fell to 5 degrees in the night of the storm", "it fell to −5 degrees in the night of the storm"),
        ("the share is 5 percent of the whole of it all", "the share is < 5 percent of the whole of it all"),
        ("the engine will start when it is very cold", "the engine won't start when it is very cold"),
        ("これは安全であることが確認された装置である", "これは安全でないことが確認された装置である"),
        ("该装置已经通过安全检查并且可以使用", "该装置没有已经通过安全检查并且可以使用"),
    ],
)
def test_no_stage_takes_another_word_for_a_slip(quote: str, response: str) -> None:
    """Without knowing all words, one letter more, less or other may make another one; so may an operator."""
    assert QuoteProblem.NOT_FOUND is locate_quote(quote, response).problem


@each(
    ("quote", "response"),
    [
        ("ready", "Start only if (!ready) holds."),
        ("ready && armed", "Start only if !ready && armed holds."),
        ("ready", "Start only if ¬ready holds."),
        ("ready", "Start only if `!`**ready** holds."),
        ("= 5 and stop", "Loop while x != 5 and stop."),
        ("Loop while x <", "Loop while x <= 5 and stop."),
        ("5 degrees", "It fell to -5 degrees."),
        ("5 degrees", "It fell to −5 degrees."),
        ("5 percent", "The share is < 5 percent."),
        ("5 percent", "The share is ≥5 percent."),
        ("It took 1", "It took 1/2 of the time."),
        ("It weighs 5", "It weighs 5kg in all."),
        ("It weighs 5 m", "It weighs 5 mg in all."),
        ("It grew by 12", "It grew by 12% in all."),
        ("It costs 12", "It costs 12 million in all."),
        ("人口は3", "人口は3万人です。"),
        ("lethal weapons", "They carry non-lethal weapons."),
        ("lawful for the team", "It was unlawful for the team."),
        ("the engine can", "In short, the engine can't start."),
        ("the engine does", "In short, the engine doesn't start."),
        ("the engine can", "In short, the engine cannot start."),
        ("it is harm", "In short, it is harmless."),
        ("ready to start", "The engine is not ready to start."),
        ("ready to start", "The engine isn't ready to start."),
        ("ready to start", "The engine is **not** ready to start."),
        ("この装置は動作し", "この装置は動作しない。"),
        ("この装置は動作し", "この装置は動作しません。"),
        ("可能である", "それは不可能である。"),
        ("支持该功能", "系统不支持该功能。"),
        ("支持该功能", "系统没有支持该功能。"),
        ("完成的部分", "这是未完成的部分。"),
    ],
)
def test_a_quote_does_not_end_where_the_response_turns_it_round(quote: str, response: str) -> None:
    """Negation, sign, comparison and unit belong to what they touch."""
    assert QuoteProblem.NOT_FOUND is locate_quote(quote, response).problem


@each(
    ("quote", "response"),
    [
        ("ready", "Ready! ready for all of it."),
        ("great work", "Wow!great work"),
        ("我们出发", "太好了！我们出发。"),
        ("5 apples", "We need:\n-5 apples\n-2 pears"),
        ("5 percent", "> 5 percent of it\nsaid the note"),
        ("known log", "It is a well-known log."),
        ("in 2024", "We met in 2024年."),
        ("ready to start", "No. ready to start? Yes."),
        ("ready to start", "It is not ready to start now, but ready to start tomorrow."),
        ("沉没的船", "那是沉没的船。"),
        ("的船只", "那是沉没的船只。"),
        ("政府宣布", "南非政府宣布。"),
        ("必ず動作する", "必ず動作するはずです。"),
        ("house team", "The in-house team did it."),
    ],
)
def test_what_only_looks_like_a_turn_is_quoted_as_ever(quote: str, response: str) -> None:
    """Marks that end a sentence, bullets, other words with the same characters."""
    assert locate_quote(quote, response).problem is None


def test_an_ellipsis_reaches_a_sentence_or_two_and_not_a_page() -> None:
    """Two sentences from two pages, set side by side, say what neither of them says."""
    first, last = "The pump was tested in Osaka", "every bearing failed within a week"
    near = f"{first}. It was a warm day, and all went well. In the second test, {last}."
    far = f"{first}. {'It was a warm day, and all went well. ' * 40}In the second test, {last}."
    again = f"{far} As said, the pump was tested in Osaka, where {last}."
    quote = f"{first} … {last}"

    assert QuoteStage.SEGMENTS is locate_quote(quote, near).stage
    assert QuoteProblem.NOT_FOUND is locate_quote(quote, far).problem
    assert QuoteProblem.NOT_FOUND is locate_quote(quote.replace("…", "[...]"), far).problem
    assert QuoteStage.SEGMENTS is locate_quote(quote, again).stage
    assert all(span.start > len(far) for span in locate_quote(quote, again).spans)


def test_where_else_a_quote_comes_from_is_said() -> None:
    """Only when the response does not hold it: an echo of the question is the response's own."""
    locator = QuoteLocator(
        "Tokyo is the capital.", "Which city is the capital of Japan?", "Award two points for Tokyo."
    )

    assert QuoteProblem.FROM_QUESTION is locator.locate("capital of Japan").problem
    assert QuoteProblem.FROM_RUBRIC is locator.locate("award two points").problem
    assert locator.locate("is the capital").problem is None


@each(
    ("quote", "response", "problem"),
    [
        ("", "anything", QuoteProblem.TOO_SHORT),
        (" \n ", "anything", QuoteProblem.TOO_SHORT),
        ("a", "a cat and a dog", QuoteProblem.TOO_SHORT),
        ("is", "it is what it is", QuoteProblem.TOO_SHORT),
        ("是", "他是医生", QuoteProblem.TOO_SHORT),
        ("{", "{ 1 }", QuoteProblem.TOO_SHORT),
        ("42", "The answer is 42.", None),
        ("42", "The answer is 342.", QuoteProblem.NOT_FOUND),
        ("是的", "是的，他是医生", None),
        ("B", "B", None),
        ("B", " b.\n", None),
        ("no", "I do not know", QuoteProblem.NOT_FOUND),
        ("art", "a smart idea", QuoteProblem.NOT_FOUND),
        ("[x]", "done [x] and dusted", None),
        ("...", "Well... yes", QuoteProblem.TOO_SHORT),
        ("|---|", "| a |\n|---|\n| b |", None),
    ],
)
def test_a_quote_must_prove_something(quote: str, response: str, problem: QuoteProblem | None) -> None:
    """Too short: could stand anywhere. A whole response, or a whole word said once, is proof however short."""
    assert problem == locate_quote(quote, response).problem


def test_a_whole_word_is_preferred_to_a_part_of_one() -> None:
    """The span is what a reader would look for."""
    text = "The chartered art gallery"

    assert (Span(14, 25),) == locate_quote("art gallery", text).spans
