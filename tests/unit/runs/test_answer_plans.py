"""The parts of an answer run that need no target: variants, the plan and how it grows, names, states of outcomes."""

from itertools import product
from pathlib import Path

import pytest

from mixseek.datasets.answer_runs import state_of_outcome
from mixseek.datasets.questions import Question
from mixseek.errors import ConfigurationError
from mixseek.runs.answers.cells import Cell, Cells
from mixseek.runs.answers.plan_cells import check_targets
from mixseek.runs.answers.targets import name_target
from mixseek.runs.answers.variants import PLAIN_VARIANT, Variant, VariantRenderer, read_variants

TALK = (
    {"role": "user", "content": "First"},
    {"role": "assistant", "content": None},
    {"role": "user", "content": "Then"},
)
COLUMNS = {"id": "q", "question": "Why?", "unit": "cm", "tags": ["a", "b"], "not a name": 1}
QUESTION = Question("q", "Why?", system="Be kind.", columns=COLUMNS)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        (Variant("A"), ["Be kind.", "Why?"]),
        (Variant("A", user="{{ question }} In {{ unit }}, {{ tags[0] }}!"), ["Be kind.", "Why? In cm, a!"]),
        (Variant("A", system="{{ system }} Now."), ["Be kind. Now.", "Why?"]),
        (Variant("A", user="{{ id }}", system=""), ["q"]),
    ],
)
def test_a_variant_makes_messages_of_a_question(variant: Variant, expected: list[str]) -> None:
    """What it does not say is the question's own; a system prompt that it empties is none."""
    assert [turn["content"] for turn in VariantRenderer(variant).messages(QUESTION)] == expected


def test_of_a_conversation_a_variant_words_the_last_turn_of_the_user_before_what_is_asked() -> None:
    turns = VariantRenderer(Variant("A", user="<{{ question }}>")).messages(Question("q", "Then", messages=TALK))

    assert [turn["content"] for turn in turns] == ["<First>", None, "Then"]
    assert [turn["content"] for turn in TALK] == ["First", None, "Then"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ units }}", "question 'q' has no column 'units'; did you mean 'unit'"),
        ("{{ tags.append('c') }}", "is unsafe"),
        ("{{ question.__class__ }}", "is unsafe"),
        ("{{ question * 999 }}", "only for numbers"),
        ("{% for a in tags %}{{ loops }}{% endfor %}", "no column 'loops'"),
        ("{{ range(9) }}", "no column 'range'"),
    ],
)
def test_a_template_is_strict_and_in_a_sandbox(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words.replace("(", r"\(")):
        VariantRenderer(Variant("A", user=text)).messages(QUESTION)


def test_a_variant_is_its_texts_and_nothing_else(tmp_path: Path) -> None:
    """The same text is the same variant from wherever; every other combination of texts is another one."""
    (tmp_path / "a.md").write_bytes("\ufeff{{ question }}".encode())
    (from_file, in_place) = read_variants({"A": tmp_path / "a.md", "B": {"user": "{{ question }}"}})
    texts = (None, "", "x", "x\n", "{{ question }}")
    digests = {Variant("A", user, system).sha256 for user, system in product(texts, texts)}

    assert from_file.sha256 == in_place.sha256
    assert len(digests) == len(texts) ** 2
    assert [variant.name for variant in read_variants({})] == [PLAIN_VARIANT]


def test_a_plan_only_grows() -> None:
    """Whatever was asked for stays; joining is the same in any order, and again changes nothing."""
    counts = [(2,), (2, 2), (1, 1, 1), (3,)]
    for ours, theirs in product(counts, counts):
        first, second = (Cells.of([Cell("j", "t", "A", takes)]) for takes in (ours, theirs))
        joined = first.joined(second).cells["j", "A"]

        assert joined == second.joined(first).cells["j", "A"] == first.joined(second).joined(first).cells["j", "A"]
        assert joined.repeats == max(len(ours), len(theirs))
        assert joined.questions == max(*ours, *theirs)
        assert joined.planned >= max(sum(ours), sum(theirs))
    grown = Cells.of([Cell("j", "t", "A", (2,))]).joined(
        Cells.of([Cell("k", "u", "B", (1,)), Cell("j", "t", "B", (1,))])
    )
    assert [*grown.cells] == [("j", "A"), ("k", "B"), ("j", "B")]
    assert grown.planned == 4


def test_two_targets_of_one_name_are_refused_and_one_target_of_two_variants_is_not() -> None:
    check_targets(Cells.of([Cell("j", "t", "A", (1,)), Cell("j", "t", "B", (1,)), Cell("k", "u", "A", (1,))]))
    with pytest.raises(ConfigurationError, match="targets j and k would both be called 't' in the answers"):
        check_targets(Cells.of([Cell("j", "t", "A", (1,)), Cell("k", "t", "B", (1,))]))


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("openai:gpt-5-mini", "gpt-5-mini", "gpt-5-mini"),
        ("openai:gpt-5-mini@http://127.0.0.1/v1", "gpt-5-mini", "gpt-5-mini"),
        ("openrouter:openai/gpt-5-mini", "openai/gpt-5-mini", "openai/gpt-5-mini"),
        ("hot", "gpt-5-mini", "gpt-5-mini (hot)"),
        ("gpt-5-mini", "gpt-5-mini", "gpt-5-mini"),
        ("parrot", None, "parrot"),
    ],
)
def test_a_target_is_called_as_its_model_with_the_name_of_its_table(
    name: str, model: str | None, expected: str
) -> None:
    assert name_target(name, model) == expected


@pytest.mark.parametrize(
    ("record", "state"),
    [
        *(
            ({"status": "valid", "fields": {"state": state}}, state)
            for state in ("finished", "cut_off", "withheld", "empty")
        ),
        ({"status": "valid", "fields": {}}, "finished"),
        ({"status": "missing"}, "open"),
        ({"status": "missing", "permanent": True}, "failed"),
        ({"status": "missing", "permanent": True, "withheld": True}, "withheld"),
        ({"status": "undecided", "fields": {}}, "failed"),
        ({"status": "invalid", "fields": {}}, "failed"),
    ],
)
def test_every_outcome_is_one_state(record: dict[str, object], state: str) -> None:
    assert state_of_outcome(record) == state
