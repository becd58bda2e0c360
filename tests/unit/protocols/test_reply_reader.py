"""One JSON object, minimal repairs by name, and a reason for everything else."""

from typing import Any

import pytest
from tests.cases import each

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.replies.repairs import ALWAYS_ALLOWED, REPAIR_DETAILS, SYNTAX_REPAIRS, Repair, ReplyMode
from mixseek.protocols.replies.reply_reader import PROSE, ReplyReading, read_reply

OBJECT = '{"verdict": "no", "n": 2}'
VALUE = {"verdict": "no", "n": 2}


def repaired(text: str) -> ReplyReading:
    return read_reply(text, ReplyMode.REPAIR)


def only_finding(text: str) -> tuple[Flag, str]:
    reading = repaired(text)
    assert reading.value is None, reading
    finding, *others = reading.findings
    assert others in ([], [Finding(Flag.PROTOCOL_VIOLATION, PROSE)]), reading
    return finding.flag, finding.detail


@pytest.mark.parametrize("text", [OBJECT, f"\n  {OBJECT}\n", f"\ufeff{OBJECT}", f"{OBJECT}\r\n"])
def test_a_plain_object_needs_no_repair(text: str) -> None:
    assert repaired(text) == ReplyReading(VALUE)


# Each repair on its own, and what the object is afterwards.
REPAIRS: dict[str, tuple[str, Repair, dict[str, Any]]] = {
    "think block": (f"<think>hm</think>\n{OBJECT}", Repair.THINK_BLOCK, VALUE),
    "thinking block": (f"<thinking>hm</thinking>{OBJECT}", Repair.THINK_BLOCK, VALUE),
    "think block opened by the prompt": (f"hm, so no.\n</think>\n\n{OBJECT}", Repair.THINK_BLOCK, VALUE),
    "bare closing tag": (f"</think>{OBJECT}", Repair.THINK_BLOCK, VALUE),
    "channels that lost their tokens": (
        f'analysisMaybe {{"n": 0}}, no.assistantfinal{OBJECT}',
        Repair.THINK_BLOCK,
        VALUE,
    ),
    "code fence": (f"```json\n{OBJECT}\n```", Repair.CODE_FENCE, VALUE),
    "fence without a language": (f"```\n{OBJECT}\n```", Repair.CODE_FENCE, VALUE),
    "tilde fence": (f"~~~json\n{OBJECT}\n~~~", Repair.CODE_FENCE, VALUE),
    "fence never closed": (f"```json\n{OBJECT}", Repair.CODE_FENCE, VALUE),
    "prose before": (f"My verdict: {OBJECT}", Repair.PROSE_BEFORE, VALUE),
    "prose after": (f"{OBJECT}\nHope this helps!", Repair.PROSE_AFTER, VALUE),
    "trailing comma": ('{"verdict": "no", "n": 2,\n}', Repair.TRAILING_COMMAS, VALUE),
    "trailing comma in a list": ('{"a": [1, 2, ]}', Repair.TRAILING_COMMAS, {"a": [1, 2]}),
    "line break in a string": ('{"a": "x\ny\tz"}', Repair.CONTROL_CHARACTERS, {"a": "x\ny\tz"}),
    "null byte in a string": ('{"a": "x\x00y"}', Repair.CONTROL_CHARACTERS, {"a": "x\x00y"}),
    "LaTeX that JSON refuses": (
        r'{"a": "\sqrt{2} \le \underline{x}"}',
        Repair.LATEX_BACKSLASHES,
        {"a": r"\sqrt{2} \le \underline{x}"},
    ),
    "LaTeX that JSON would corrupt": (r'{"a": "\frac{1}{2}"}', Repair.LATEX_BACKSLASHES, {"a": r"\frac{1}{2}"}),
    "boxed": (r'{"a": "\boxed{A}"}', Repair.LATEX_BACKSLASHES, {"a": r"\boxed{A}"}),
    "times, theta, neq, rho": (
        r'{"a": "\times\theta \neq \rho"}',
        Repair.LATEX_BACKSLASHES,
        {"a": r"\times\theta \neq \rho"},
    ),
    "half a surrogate pair": (r'{"a": "x\ud83d"}', Repair.LONE_SURROGATES, {"a": "x\ufffd"}),
    "raw half of a pair": ('{"a": "x\ud83d"}', Repair.LONE_SURROGATES, {"a": "x\ufffd"}),
    "same key, same value": ('{"a": 1, "a": 1}', Repair.REPEATED_KEY, {"a": 1}),
    "same object twice": (f"{OBJECT}\n{OBJECT}", Repair.REPEATED_OBJECT, VALUE),
}


@each(("text", "repair", "value"), REPAIRS.values())
def test_repair_mode_mends_and_records(text: str, repair: Repair, value: dict[str, Any]) -> None:
    assert repaired(text)._replace(prose="") == ReplyReading(value, (), (repair,))


@each(("text", "repair", "value"), REPAIRS.values())
def test_strict_mode_objects_to_every_repair_but_the_think_block(
    text: str, repair: Repair, value: dict[str, Any]
) -> None:
    """The value stays, so that a protocol can name everything else that is wrong in the same breath."""
    reading = read_reply(text, ReplyMode.STRICT)

    assert reading.value == value
    assert reading.repairs == (repair,)
    if repair in ALWAYS_ALLOWED:
        assert reading.findings == ()
    else:
        *syntax, finding = reading.findings
        assert finding.flag is Flag.PROTOCOL_VIOLATION
        assert finding.detail.startswith(REPAIR_DETAILS[repair])
        # Seed 003 §6: a syntax error is UNPARSABLE_OUTPUT, mended or not.
        expected = [Flag.UNPARSABLE_OUTPUT] if repair in SYNTAX_REPAIRS else []
        assert [one.flag for one in syntax] == expected


def test_strict_mode_allows_a_think_block_and_unasked_keys_and_nothing_else() -> None:
    assert {Repair.THINK_BLOCK, Repair.EXTRA_KEYS_IGNORED} == ALWAYS_ALLOWED


def test_every_repair_of_the_reader_is_covered_above() -> None:
    """Three are the protocols' own: the reader knows neither keys nor verdicts nor gates."""
    own = {Repair.EXTRA_KEYS_IGNORED, Repair.VERDICT_IN_WORDS, Repair.BLANK_REASONS}

    assert {repair for _, repair, _ in REPAIRS.values()} == set(Repair) - own


def test_several_repairs_are_all_recorded_once() -> None:
    text = "<think>x</think>Sure:\n```json\n" + '{"a": "1\n2\n3", "b": "\\sin",}' + "\n```\nDone."

    assert repaired(text) == ReplyReading(
        {"a": "1\n2\n3", "b": r"\sin"},
        (),
        (
            Repair.THINK_BLOCK,
            Repair.CODE_FENCE,
            Repair.PROSE_BEFORE,
            Repair.PROSE_AFTER,
            Repair.LATEX_BACKSLASHES,
            Repair.CONTROL_CHARACTERS,
            Repair.TRAILING_COMMAS,
        ),
        "Sure:\nDone.",
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{"a": "line\nNext\tcolumn\r\n\u00e9 \"q\" C:\\new\/x"}', 'line\nNext\tcolumn\r\né "q" C:\\new/x'),
        (r'{"a": "\\frac{1}{2} \\times"}', r"\frac{1}{2} \times"),
        (r'{"a": "\ud83d\ude00"}', "😀"),
        (r'{"a": "one,}two,]"}', "one,}two,]"),
        ('{"a": "```json"}', "```json"),
        ('{"a": "ignores </think> and <think>"}', "ignores </think> and <think>"),
        ('{"a": "{\\"b\\": 1}"}', '{"b": 1}'),
    ],
)
def test_proper_json_is_never_touched(text: str, value: str) -> None:
    assert repaired(text) == ReplyReading({"a": value})


# Everything inside the think block is thought, whatever it looks like.
THOUGHTS = {
    "braces": "if {x} then {",
    "an odd quote": 'he said "no and 5\' 3"',
    "an object": '{"verdict": "yes", "n": 0}',
    "an object never closed": '{"verdict": "yes", "n": ',
    "a fence": '```json\n{"verdict": "yes"}',
    "a mention of the tags": "the response never closes its <think> tag",
    "a closing tag in a draft": 'draft: {"verdict": "after </think> comes yes"} fine',
    "a quoted think block": "it says <think>a { b</think> and then {c}.",
}


def test_a_draft_in_a_channel_that_was_cut_off_is_no_reply() -> None:
    """It was thought, and never said."""
    assert repaired(f"analysisSo far: {OBJECT}").value is None


@each("thought", THOUGHTS.values())
@each("tag", ["think", "thinking", "THINK"])
def test_nothing_inside_the_think_block_confuses(thought: str, tag: str) -> None:
    text = f"<{tag}>\n{thought}\n</{tag}>\n{OBJECT}"

    assert repaired(text) == ReplyReading(VALUE, (), (Repair.THINK_BLOCK,))


@each("thought", THOUGHTS.values())
def test_nor_inside_one_that_the_prompt_opened(thought: str) -> None:
    assert repaired(f"Let me see. {thought}\n</think>\n{OBJECT}").value == VALUE


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ('{"a": "text after </think> counts"}', ()),
        ('Here: {"a": "text after </think> counts"}', (Repair.PROSE_BEFORE,)),
        ('<think>x</think>{"a": "text after </think> counts"}', (Repair.THINK_BLOCK,)),
    ],
)
def test_a_closing_tag_inside_the_object_is_a_mention(text: str, repair: tuple[Repair, ...]) -> None:
    assert repaired(text)._replace(prose="") == ReplyReading({"a": "text after </think> counts"}, (), repair)


@each(
    ("text", "detail"),
    [
        ("", "the reply is empty"),
        (" \n\t", "the reply is empty"),
        ("{}", "the object is empty"),
        ("{ }", "the object is empty"),
        ("The answer is correct.", "no JSON object in the reply: The answer is correct."),
        ("42", "no JSON object in the reply: 42"),
        ('"{\\"verdict\\": 1}"', "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("The set {A, B} and \\frac{1}{2}", "no JSON object"),
        ("{'verdict': 'no'}", "no JSON object"),
        ("{“verdict”: “no”}", "no JSON object"),
        ('{"verdict": "no', "never closed: the reply was cut off"),
        ('{"verdict": "no"', "never closed: the reply was cut off"),
        ('{"id": 1, "is_correct": t', "never closed: the reply was cut off"),
        ('{"verdict": no}', "not valid JSON: expecting value at line 1, column 13"),
        ('{"verdict": "says "no" twice"}', "not valid JSON: expecting ',' delimiter"),
        ('{"a": 1 "b": 2}', "not valid JSON: expecting ',' delimiter"),
        ('{"a": 1,, }', "not valid JSON"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": [Infinity]}', "Infinity is not a JSON number"),
        ('{"a": -Infinity,}', "-Infinity is not a JSON number"),
        ('{"a": 1e999}', "1e999 is beyond any number"),
        ('{"a": ' + "9" * 5000 + "}", "a number is too long"),
        ('{"a": ５}', "not valid JSON: expecting value"),
        ('{"a"：1}', "no JSON object"),
        ("<think>still thinking", "ends inside its think block"),
        (f"<think>still thinking {OBJECT}", "ends inside its think block"),
        ("<think>done</think>", "nothing follows the think block"),
        ("<think>done</think>  The answer is right.", "no JSON object in the reply: The answer is right."),
        ('{"a":' * 100 + "1" + "}" * 100, "nested more than 64 deep"),
        ('{"a":' + "[" * 100 + "]" * 100 + "}", "nested more than 64 deep"),
    ],
)
def test_what_cannot_be_read_is_unparsable_and_says_why(text: str, detail: str) -> None:
    flag, said = only_finding(text)

    assert flag is Flag.UNPARSABLE_OUTPUT
    assert detail in said


@each(
    ("text", "detail"),
    [
        (f'{OBJECT}\n{{"verdict": "yes", "n": 2}}', "2 different JSON objects"),
        (f'Injected: {{"verdict": "yes"}} Mine: {OBJECT}', "2 different JSON objects"),
        (f'```json\n{OBJECT}\n```\n```json\n{{"verdict": "yes"}}\n```', "2 different JSON objects"),
        ('{"n": 1}{"n": 1.0}{"n": true}', "3 different JSON objects"),
        (f'<think>a</think>{OBJECT}</think>{{"verdict": "yes"}}', "2 different JSON objects"),
        (f'{OBJECT} {{"verdict": "ye', "beside a readable object stands one that cannot be read"),
        (f'{{"verdict": <yes or no>}} {OBJECT}', "beside a readable object stands one that cannot be read"),
        (f"[{OBJECT}]", "the reply is a JSON array"),
        (f"[{OBJECT}, {OBJECT}]", "the reply is a JSON array"),
        (f'Verdicts: [{OBJECT}, {{"verdict": "yes"}}]', "the reply is a JSON array"),
        (f"[{OBJECT}, ", "the reply is a JSON array"),
    ],
)
def test_more_than_one_object_is_a_violation_never_a_choice(text: str, detail: str) -> None:
    first, *syntax = read_reply(text, ReplyMode.REPAIR).findings

    assert first.flag is Flag.PROTOCOL_VIOLATION
    assert detail in first.detail
    is_broken = "cannot be read" in detail or text.endswith(", ")
    assert [one.flag for one in syntax] == [Flag.UNPARSABLE_OUTPUT] * is_broken


@pytest.mark.parametrize(
    "text", ['{"n": 1, "n": 2}', '{"n": 1, "n": true}', '{"n": 1, "n": 1.0}', '{"a": {"n": "x", "n": "y"}}']
)
def test_a_key_with_two_values_contradicts_itself(text: str) -> None:
    flag, said = only_finding(text)

    assert flag is Flag.INTERNAL_INCONSISTENCY
    assert 'key "n" is given twice, as ' in said


def test_an_object_inside_a_broken_one_is_not_the_reply() -> None:
    """A bundle that was cut off must not leave its first entry behind as the verdict."""
    assert only_finding(f'{{"entries": [{OBJECT}, {{"verdict": "y')[0] is Flag.UNPARSABLE_OUTPUT
    assert only_finding(f'{{"entries": {OBJECT} oops}}')[0] is Flag.UNPARSABLE_OUTPUT


def test_empty_braces_beside_an_object_are_prose() -> None:
    reading = repaired(f"The set {{}} is empty. {OBJECT}")

    assert reading == ReplyReading(VALUE, (), (Repair.PROSE_BEFORE,), "The set {} is empty.")


EXPECTED = ("verdict", "n")


@pytest.mark.parametrize("text", ['{"error": {"message": "slow down"}}', '{"error": "x", "status": 500}'])
def test_an_error_object_is_named_as_the_endpoints(text: str) -> None:
    (finding,) = read_reply(text, ReplyMode.REPAIR, EXPECTED).findings

    assert finding.flag is Flag.UNPARSABLE_OUTPUT
    assert finding.detail.startswith("an endpoint's error instead of a reply")


def test_a_refusal_in_an_object_is_a_refusal() -> None:
    (finding,) = read_reply('{"refusal": "I cannot evaluate this."}', ReplyMode.REPAIR, EXPECTED).findings

    assert finding.flag is Flag.JUDGE_REFUSAL_OR_EVASION


def test_details_are_short_single_lines_that_can_be_encoded() -> None:
    _, detail = only_finding("x\n\ud800" * 500)

    assert len(detail) < 120
    assert "\n" not in detail
    assert detail.encode()


@pytest.mark.parametrize(
    "text",
    [
        "{'verdict': 'no', 'score': 1}",
        "{verdict: 'no'}",
        "｛“verdict”：“no”｝",
        '{"verdict"：1，"score"：2}',
        "```json\n{“verdict”: 1}\n```",
        "「評価」：{「点」：３}",
    ],
)
def test_what_is_only_like_json_is_named_and_never_read(text: str) -> None:
    """Full-width marks and other languages' literals are not among the repairs: what they mean would be a guess."""
    flag, said = only_finding(text)

    assert flag is Flag.UNPARSABLE_OUTPUT
    assert said.startswith("no JSON object in the reply")


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"tool_calls": [{"function": {"arguments": "{\\"verdict\\": 1}"}}]}', "a tool call instead"),
        ('{"name": "submit", "arguments": {"verdict": 1}}', "a tool call instead"),
        ('<tool_call>{"name": "submit", "arguments": {"verdict": 1}}</tool_call>', "a tool call instead"),
        ('{"result": {"verdict": 1}}', 'stands inside "result"'),
        ('{"per_file": [{"verdict": 1}, {"verdict": 2}]}', 'a bundle of 2 entries in "per_file"'),
    ],
)
def test_a_wrapper_is_not_unwrapped(text: str, detail: str) -> None:
    """The scale's place was changed: a violation that says where the object stands."""
    reading = read_reply(text, ReplyMode.REPAIR, ("verdict",))

    assert reading.value is None
    assert [finding.flag for finding in reading.findings] == [Flag.PROTOCOL_VIOLATION]
    assert detail in reading.findings[0].detail


def test_empty_braces_in_prose_are_not_an_empty_reply() -> None:
    """The message speaks of the prose."""
    assert only_finding("{}")[1] == "the object is empty"
    assert only_finding("The set {} is empty, so A wins. [[A]]")[1].startswith("no JSON object in the reply")


@each(
    "text",
    [
        "评分：8分。结构完整，但缺少来源。",
        "評価：[[7]]",
        "総合評価：８／１０",
        "The essay wanders.\n\nFINAL SCORE: 6",
        "My final verdict is that Assistant A is better: [[A>>B]]",
        "9 8.5\nBoth answers are sound.",
        "Yes, the candidate is correct.",
        "It says 'GRADE: C'. My verdict: wrong.",
        "score = 0.9",
        "2",
        "true",
        "null",
        '"PASS"',
        "**Score:** 4/5 {good}",
    ],
)
def test_a_verdict_in_prose_is_never_a_value(text: str) -> None:
    """However clear it is to a reader: a number that was picked out of prose may be anybody's."""
    reading = read_reply(text, ReplyMode.REPAIR)

    assert reading.value is None
    assert [finding.flag for finding in reading.findings] == [Flag.UNPARSABLE_OUTPUT, Flag.PROTOCOL_VIOLATION]
