"""A task rubric is read as a judge would read it, and linted with the line where it goes wrong."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.protocols.declaration import Complaint
from mixseek.protocols.rubric import TASK_TYPES, lint_task_rubric, read_task_rubric

WHOLE = """---
task_name: tea-ceremony
task_type: creative
---
# 茶会の招待状

客人への短い招待状を書く課題。

## Critical Fail Conditions
- 招待状ではないものを書いている
- 字数が 400 字を
  超えている

## 採点者向け事実情報
茶会は 5 月 3 日 14 時から。
### 場所
- 松風庵

## 採点基準
### logic_and_fact
#### 加点項目
- 日時が正しい
#### 減点項目
- 場所の誤り
### constraint_adherence
#### 加点項目
1. 敬語が一貫している
"""


def complaints(text: str) -> list[tuple[int | None, str]]:
    return [(one.line, str(one)) for one in lint_task_rubric(text, "tea.md") if not one.is_hint]


def test_a_whole_rubric_is_read() -> None:
    rubric = read_task_rubric(WHOLE)

    assert (rubric.task_name, rubric.task_type, rubric.unknown_task_type) == ("tea-ceremony", "creative", None)
    assert rubric.may_fail_critically
    assert rubric.text == WHOLE


def test_a_whole_rubric_lints_clean() -> None:
    assert lint_task_rubric(WHOLE, "tea.md") == []


@each("task_type", TASK_TYPES)
@each(
    "line",
    [
        "task_type: {}",
        "task_type：{}",
        "`task_type`: `{}`",
        "`task_type: {}`",
        "**task_type**: {}",
        "**task_type:** {}",
        "- task_type: **{}**",
        "# task_type: {}",
        "> task_type: {}",
        'task_type: "{}"',
        "Task Type: {}",
        "TASK_TYPE = {}",
        "タスク型：{}",
        "任务类型：{}",
        "task_type: {} (see the guide)",
        "task_type: {}（説明）",
        "task_type: {} <!-- why -->",
        "task_type: {}   ",
        "\ufefftask_type: {}",
        "\n\n# Title\n\ntask_type: {}",
        "---\ntask_type: {}\n---",
        "---\r\ntask_type: '{}'  # why\r\ntask_name: x\r\n---\r\n",
    ],
)
def test_the_task_type_is_found_however_it_is_marked_up(line: str, task_type: str) -> None:
    rubric = read_task_rubric(line.format(task_type) + "\n\n- be kind\n")

    assert (rubric.task_type, rubric.unknown_task_type) == (task_type, None)


@pytest.mark.parametrize("word", ["fact", "FACT", "Fact", "ｆａｃｔ"])
def test_the_task_type_is_folded(word: str) -> None:
    assert read_task_rubric(f"task_type: {word}\n").task_type == "fact"


@pytest.mark.parametrize(
    "value", ["factual", "fact | creative | speculative", "facts", "fact creative", "事実", "x" * 300]
)
def test_an_unknown_task_type_is_kept_apart(value: str) -> None:
    """A form that was not filled in is not the first of its choices."""
    rubric = read_task_rubric(f"task_type: {value}\n- be kind\n")

    assert (rubric.task_type, rubric.unknown_task_type) == (None, value)
    assert [line for line, _ in complaints(f"task_type: {value}\n- be kind\n")] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "The task_type decides the weights.\n",
        "```\ntask_type: fact\n```\n",
        "~~~~\n~~~\ntask_type: fact\n~~~~\n",
        "<!--\ntask_type: fact\n-->\n",
        "<!-- task_type: fact -->\n",
        "",
    ],
)
def test_a_task_type_in_prose_code_or_comment_names_none(text: str) -> None:
    assert read_task_rubric(text).task_type is None


def test_other_task_types_can_be_declared() -> None:
    assert read_task_rubric("task_type: summary", ("summary", "dialogue")).task_type == "summary"
    assert read_task_rubric("task_type: fact", ("summary", "dialogue")).unknown_task_type == "fact"


@pytest.mark.parametrize(
    "heading",
    [
        "## Critical Fail Conditions",
        "### critical fail conditions",
        "## **Critical Fail Conditions**",
        "## Critical Fail Conditions:",
        "## Critical Fail Conditions（一発アウト）",
        "## Critical Fail Conditions ##",
        "Critical Fail Conditions\n---",
    ],
)
def test_the_critical_section_is_found_and_needs_no_correction(heading: str) -> None:
    text = f"task_type: fact\n\n{heading}\n- invents a source\n"

    assert read_task_rubric(text).may_fail_critically
    assert complaints(text) == []


@each(
    "heading",
    [
        "## Critical fail",
        "## Critical Failures",
        "## critical_fail",
        "##Critical Fail Conditions",
        "＃＃ Critical Fail Conditions",
        "    ## Critical Fail Conditions",
        "\t## Critical Fail Conditions",
        "**Critical Fail Conditions**",
        "Critical Fail Conditions:",
        "【Critical Fail Conditions】",
        "## クリティカルフェイル",
        "## 致命的な失敗条件",
        "## 严重失败",
        "## Fatal errors",
    ],
)
def test_a_look_alike_of_the_critical_section_is_read_and_named(heading: str) -> None:
    """The judge would take it as the section; that is no reason to let it stand."""
    text = f"task_type: fact\n\n{heading}\n- invents a source\n"

    assert read_task_rubric(text).may_fail_critically
    assert [(line, "write `## Critical Fail Conditions`" in said) for line, said in complaints(text)] == [(3, True)]


@pytest.mark.parametrize(
    "heading",
    ["## 採点者向け事実情報", "### Facts for the Grader", "## facts for the judge", "## 给评分者的事实信息"],
)
def test_facts_are_known_in_three_languages(heading: str) -> None:
    text = f"task_type: fact\n{heading}\nWater boils at 100 °C.\n\n## 加点項目\n- says so\n"

    assert complaints(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- A critical fail: the response is empty.", True),
        ("Critical Fail Conditions: an empty response", True),
        ("| 一票否决 | 空回答 |", True),
        ("## Critical Fail Conditions\n- empty", True),
        ("## Critical Fail Conditions\nなし\n\n## 加点項目\n- no critical fail happens (+5)", False),
        ("- It is critical that dates are right.", False),
        ("", False),
    ],
)
def test_conditions_in_any_form_leave_room_for_a_critical_fail(text: str, expected: bool) -> None:
    """What is not read as a list is still read by the judge; only a rubric that surely has none contradicts it."""
    assert read_task_rubric(f"task_type: fact\n\n{text}\n").may_fail_critically is expected


@pytest.mark.parametrize("nothing", ["なし", "- なし", "None.", "N/A", "无", "特になし。", ""])
def test_a_section_that_says_nothing_has_no_conditions(nothing: str) -> None:
    rubric = read_task_rubric(f"## Critical Fail Conditions\n{nothing}\n## 採点者向け事実情報\n{nothing}\n")

    assert not rubric.may_fail_critically


def test_code_within_a_line_opens_no_code() -> None:
    text = "task_type: fact\n```x``` is code\n## Critical Fail Conditions\n- x\n"

    assert read_task_rubric(text).may_fail_critically
    assert complaints(text) == []


def test_headings_in_code_are_not_headings() -> None:
    text = "task_type: fact\n- write\n```md\n## Critical Fail Conditions\n- x\n## Critical fail\n```\n"

    assert complaints(text) == []


CASES: list[tuple[str, int | None, str]] = [
    ("", None, "the rubric is empty"),
    (" \n\n", None, "the rubric is empty"),
    ("---\ntask_type: fact\n---\n", None, "the rubric is empty"),
    ("task_type: facts\n- x\n", 1, "unknown task_type 'facts'; did you mean 'fact'? available: fact, creative, spec"),
    ("task_type: haiku\n- x\n", 1, "unknown task_type 'haiku'; available: fact, creative, speculative"),
    ("task_type:\n- x\n", 1, "task_type is empty"),
    ("---\ntask_type:\n---\n- x\n", 2, "task_type is empty"),
    ("task_type: fact\n- x\ntask_type: fact\n", 3, "task_type is given twice: 'fact' on line 1 and again here"),
    (
        "---\ntask_type: fact\n---\ntask_type: creative\n- x\n",
        4,
        "task_type is given twice: 'fact' on line 2 and 'creative' here",
    ),
    ("# T\n## A\n- x\ntask_type: fact\n", 4, "task_type stands below the first section; move it to the top"),
    (
        "---\ntask_tipe: fact\n---\ntask_type: fact\n- x\n",
        2,
        "unknown key 'task_tipe' in the front matter; did you mean",
    ),
    ("---\nauthor: A\n---\ntask_type: fact\n- x\n", 2, "unknown key 'author' in the front matter; only task_name"),
    ("---\nTask_Type: fact\n---\n- x\n", 2, "unknown key 'Task_Type' in the front matter; did you mean 'task_type'?"),
    ("---\ntask_type:\tfact\n---\n- x\n", 2, "a tab stands in the front matter"),
    ("---\ntask_type: fact\n- a\n---\n- x\n", 3, "not `key: value`"),
    ("---\ntask_type: fact\n\n- x\n", 1, "the front matter that `---` opens is not closed"),
    ("task_type: fact\n- x\n```\ncode\n", 3, "a code fence is opened and never closed"),
    ("task_type: fact\n- x\n<!-- note\n", 3, "a comment is opened and never closed"),
    ("\ufefftask_type: fact\n- x\n", 1, "the file begins with a byte order mark"),
    ("task_type: fact\n- x\x00\n", 2, "a control character U+0000"),
    ("task_type: fact\n## 加点項目\n## 減点項目\n- x\n", 2, "the section '加点項目' is empty"),
    ("task_type: fact\n- x\n## Critical Fail Conditions\n", 3, "the section 'Critical Fail Conditions' is empty"),
    ("task_type: fact\n- x\n## Tone\n\n", 3, "the section 'Tone' is empty; fill it in or remove it"),
    (
        "task_type: fact\n## Critical Fail Conditions\n- x\n## Critical Fail Conditions\n- y\n",
        4,
        "the section 'Critical Fail Conditions' stands on line 2 and again here",
    ),
    ("task_type: fact\n## 採点者情報\nx\n## 加点項目\n- y\n", 2, "looks like the section '採点者向け事実情報'"),
    ("task_type: fact\n## Tone\n- x\n## Critical fail\n- y\n", 4, "looks like the section 'Critical Fail Conditions'"),
    ("task_type: fact\nWrite a poem.\n", None, "no criterion"),
    ("task_type: fact\n## 採点者向け事実情報\n- only facts\n", None, "no criterion"),
]


@each(("text", "line", "said"), CASES)
def test_each_fault_is_named_once_with_its_line(text: str, line: int | None, said: str) -> None:
    found = complaints(text)

    assert [place for place, _ in found] == [line]
    assert said in found[0][1]


def test_a_complaint_reads_file_line_what_and_what_to_do() -> None:
    (complaint,) = lint_task_rubric("task_type: facts\n- x\n", "tasks/tea.md")

    assert str(complaint) == (
        "tasks/tea.md:1: unknown task_type 'facts'; did you mean 'fact'? available: fact, creative, speculative"
    )
    assert str(Complaint("a.md", None, "what", "do", is_hint=True)) == "a.md: hint: what; do"


def test_what_is_allowed_but_worth_knowing_is_a_hint() -> None:
    """Seed 000 lets the judge infer the type; whoever forgot the line will want to know."""
    found = lint_task_rubric("- be kind\n- fill in {{ topic }}\n", "a.md")

    assert [(one.is_hint, one.line) for one in found] == [(True, None), (True, 2)]


MARKS = "--- ``` ~~~ <!-- --> ## # ** +5 - | = ： x \x00 \ud800 \ufeff"
WORDS = "task_type: fact Critical Fail Conditions 採点者向け事実情報 なし 加点項目"
PIECES = st.sampled_from([*MARKS.split(), *WORDS.split(), "\n", "\r", "\t", " "])


@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text_is_read_and_linted(text: str) -> None:
    rubric = read_task_rubric(text)
    found = lint_task_rubric(text, "x.md")

    assert rubric.text == text.removeprefix("\ufeff")
    assert rubric.task_type in {None, *TASK_TYPES}
    assert all(one.line is None or 1 <= one.line <= 2 + text.count("\n") + text.count("\r") for one in found)


@pytest.mark.parametrize(
    "piece",
    ["#", "-", "*", "`", "=", " ", "| ", "task_type:", "## a\n", "```\n", "<!--", "- x\n", "---\n", "**a", "\\"],
)
def test_time_is_linear_in_the_text(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    begin = time.process_time()
    read_task_rubric(text)
    lint_task_rubric(text, "x.md")

    # Quadratic time would be minutes.
    assert time.process_time() - begin < 8.0


_BELOW = "\n\n## Critical Fail Conditions\n- Invents a source.\n"


@each(
    "top",
    [
        "| task_type | fact |\n|---|---|\n| task_name | tea |",
        "| Key | Value |\n|---|---|\n| **task_type** | `fact` |",
        "| 項目 | 値 |\n|:--|:--|\n| タスク型 | Fact |",
        "| task_name | task_type |\n|---|---|\n| tea | fact |",
        "|任务名称|任务类型|\n|---|---|\n|tea|fact|",
        "## Task type\n\nfact",
        "# Rubric\n\n## task_type\n- **fact**",
        "### タスク型\nfact（事実の確認）",
        "## 任务类型：\n`fact`",
        "```yaml\ntask_name: tea\ntask_type: fact\n```",
        "# Tea\n\n```yml\ntask_type: fact  # checks facts\n```",
        '```toml\ntask_type = "fact"\n```',
    ],
)
def test_a_task_type_is_read_wherever_people_write_it(top: str) -> None:
    """In a table's row or column, under a heading, in a fenced block."""
    assert read_task_rubric(top + _BELOW).task_type == "fact"
    assert read_task_rubric(top + _BELOW).may_fail_critically


@pytest.mark.parametrize(
    "text",
    [
        "## 採点者向け事実情報\n```yaml\ntask_type: fact\n```",
        '```json\n{\n"task_type": "fact"\n}\n```',
        "## Task type\n\nThe type of a task says what its answers are judged by, which is said elsewhere.",
        "## Task type\n\n## Criteria\nfact",
    ],
)
def test_an_example_or_prose_names_no_task_type(text: str) -> None:
    assert read_task_rubric(text + "\n- Names the source.").task_type is None


@each(
    "said",
    [
        *("None", "- None.", "N/A", "n/a", "Nothing", "None defined for this task.", "Not applicable.", "*(none)*"),
        *(
            "No conditions are defined.",
            "no conditions defined",
            "There are no critical fail conditions for this task.",
        ),
        *("There are none.", "No critical fail conditions apply.", "No such conditions are specified here."),
        *(
            "なし",
            "特になし",
            "該当なし",
            "- 該当なし。",
            "条件は定義されていません。",
            "このタスクには該当する条件はありません。",
        ),
        *(
            "クリティカルフェイルの条件はない。",
            "設定なし",
            "特に設けない",
            "本課題にはクリティカルフェイルの条件はありません",
        ),
        *("无", "無", "暂无", "没有", "未定义任何条件。", "本任务没有致命失败条件。", "不适用", "无相关条件"),
    ],
)
def test_a_section_that_says_there_are_no_conditions_permits_no_critical_fail(said: str) -> None:
    rubric = read_task_rubric(
        f"task_type: fact\n\n## Critical Fail Conditions\n\n{said}\n\n## Criteria\n- Names the year."
    )

    assert not rubric.may_fail_critically


@each(
    "said",
    [
        *("No source is named.", "None of the steps is explained.", "Not a single figure is right.", "No citation"),
        *(
            "条件を満たしていない。",
            "出典がない。",
            "回答がない",
            "没有给出来源。",
            "未回答问题",
            "无来源",
            "Nothing but a greeting",
        ),
        *("事実と異なる内容がある。", "编造来源"),
    ],
)
def test_a_condition_that_begins_with_no_is_a_condition(said: str) -> None:
    rubric = read_task_rubric(f"task_type: fact\n\n## Critical Fail Conditions\n\n- {said}\n")

    assert rubric.may_fail_critically


@pytest.mark.parametrize("line", ["Critical fail conditions: none", "There are no critical fail conditions."])
def test_prose_that_denies_critical_fails_permits_none(line: str) -> None:
    assert not read_task_rubric(f"task_type: fact\n\n{line}\n\n- Names the year.").may_fail_critically
