"""Variants change what they are for, say when they cannot, and are the same for the same seed."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from mixseek.audits.variants.draw import OTHER_NAMES, make_variants, plain_variant
from mixseek.audits.variants.model import NEUTRAL, Inapplicable, Variant
from mixseek.audits.variants.texts import injections
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Step, StepRole, StepStatus
from mixseek.protocols.registry import load_protocol
from mixseek.stats.audits import Audit

TEXTS = {
    "en": "The bridge is 120 metres long. It was opened in 1933 by a mayor. So the answer is 120 metres.",
    "ja": "橋の長さは120メートルです。1933年に市長が開きました。したがって答えは120メートルです。",
    "zh": "这座桥长120米。它是1933年由市长启用的。所以答案是120米。",
}
CHANGING = (Audit.PADDING, Audit.FORMAT, Audit.TONE, Audit.NAME, Audit.INJECTION, Audit.IMPLANT)


def sample(text: str, name: str = "s1") -> Sample:
    return Sample(name, text, "How long?", metadata={"label": "1"})


def variants_of(one: Sample, *audits: Audit, seed: int = 0) -> list[Variant]:
    made = make_variants(one, audits, seed, "gpt-5-mini")
    return [each for each in made if isinstance(each, Variant)]


def many(language: str, audit: Audit) -> dict[str, list[str]]:
    """By kind, over so many seeds that every kind has been drawn."""
    found: dict[str, list[str]] = {}
    for seed in range(60):
        for one in variants_of(sample(TEXTS[language]), audit, seed=seed):
            found.setdefault(one.kind, []).append(one.sample.response)
    return found


def test_there_are_sixty_orders_to_a_judge_of_several_kinds_and_languages() -> None:
    """All different; none could be taken for a judged text's own words."""
    kinds = Counter(kind for kind, _ in injections())

    assert len({text for _, text in injections()}) == len(injections()) == 60
    assert len(kinds) >= 6
    assert sum(re.search("[ぁ-ん]", text) is not None for _, text in injections()) >= 8
    assert sum(re.search("[가-힣]", text) is not None for _, text in injections()) >= 2


def test_the_same_seed_makes_the_same_variants_and_another_one_others() -> None:
    """So that an interrupted audit goes on, and a second one is independent."""
    first = variants_of(sample(TEXTS["en"]), *CHANGING)

    assert variants_of(sample(TEXTS["en"]), *CHANGING) == first
    assert [one.sample.response for one in variants_of(sample(TEXTS["en"]), *CHANGING, seed=1)] != [
        one.sample.response for one in first
    ]


def test_ids_say_nothing_metadata_say_all_and_a_label_stays_with_its_text() -> None:
    """Some prompts show the id: a judge must not read there what is tried."""
    plain, changed = plain_variant(sample(TEXTS["en"])), variants_of(sample(TEXTS["en"]), *CHANGING)

    assert plain.sample.key() == sample(TEXTS["en"]).key()
    assert plain.sample.metadata["label"] == "1"
    for one in changed:
        assert re.fullmatch(r"s1~[0-9a-f]{6}", one.sample.id)
        assert one.audit is not None
        assert one.sample.metadata == {"audit_original": "s1", "audit": one.audit.value, "audit_kind": one.kind}
    assert len({one.sample.id for one in changed}) == len(changed)


@pytest.mark.parametrize("language", TEXTS)
def test_what_must_not_matter_leaves_every_word_where_it_was(language: str) -> None:
    """Marks and additions only: without them the text is the same again."""
    words = re.findall(r"\w", TEXTS[language])
    for audit in (Audit.PADDING, Audit.TONE, Audit.NAME, Audit.INJECTION):
        for kind, texts in many(language, audit).items():
            assert all(TEXTS[language] in text and text != TEXTS[language] for text in texts), (audit, kind)
    shapes = many(language, Audit.FORMAT)
    assert set(shapes) == {"bold", "bullets", "headings", "emoji"}
    for kind, texts in shapes.items():
        for text in texts:
            told = re.findall(r"\w", re.sub(r"^## .*$", "", text, flags=re.MULTILINE))
            assert told == words, kind


@pytest.mark.parametrize("language", TEXTS)
def test_planted_defects_are_of_four_kinds_in_each_language(language: str) -> None:
    """Each breaks what it says, and nothing else."""
    planted = many(language, Audit.IMPLANT)
    plain = TEXTS[language]

    assert set(planted) == {"negated conclusion", "changed number", "dropped part", "invented quote"}
    negation = {"en": "is not 120", "ja": "ではありません", "zh": "不是120"}[language]
    assert all(negation in text and len(text) > len(plain) for text in planted["negated conclusion"])
    for text in planted["changed number"]:
        assert text != plain
        assert re.sub(r"\d", "", text) == re.sub(r"\d", "", plain)
    assert all(len(text) < len(plain) and text.startswith(plain[:6]) for text in planted["dropped part"])
    assert all(text.startswith(plain) and re.search("[“「]", text) for text in planted["invented quote"])


def test_a_list_s_own_numbers_are_no_facts() -> None:
    """`1.` before an item would be a change that means nothing."""
    text = "1. Cut the pear.\n2. Wait for 30 minutes.\n3. Serve."
    changed = {
        one.sample.response
        for seed in range(60)
        for one in variants_of(sample(text), Audit.IMPLANT, seed=seed)
        if one.kind == "changed number"
    }

    assert changed
    assert all(re.sub(r"\b\d0 minutes", "30 minutes", one) == text for one in changed)


def test_its_own_name_stands_against_that_of_another_family() -> None:
    """Whoever the judge is."""
    for judge in ("gpt-5-mini", "claude-sonnet-4-5", "gemini-2.5-pro", "qwen3-32b", "mock"):
        own, other = (
            one for one in make_variants(sample(TEXTS["en"]), [Audit.NAME], 0, judge) if isinstance(one, Variant)
        )
        assert own.sample.response.endswith(f"(Written by {judge})")
        name = other.sample.response.rpartition("by ")[2].rstrip(")")
        assert name in OTHER_NAMES
        assert name[:3].lower() != judge[:3]


@pytest.mark.parametrize(
    ("audit", "text", "judge", "reason"),
    [
        (Audit.FORMAT, "```python\nprint(1)\n```", "m", "formatted already"),
        (Audit.PADDING, "  ", "m", "no text to change"),
        (Audit.NAME, "Yes.", None, "the judge names no model: own_name (--own-name) says whose name it may favour"),
    ],
)
def test_what_cannot_be_done_to_a_text_is_said(audit: Audit, text: str, judge: str | None, reason: str) -> None:
    """By name and reason, for whoever counts them."""
    (made,) = make_variants(sample(text), [audit], 0, judge)

    assert isinstance(made, Inapplicable)
    assert (made.original, made.audit) == ("s1", audit)
    assert reason in made.reason


@pytest.mark.parametrize("language", TEXTS)
def test_an_order_stands_beside_neutral_text_of_its_length_at_its_place(language: str) -> None:
    """What is longer is a change already; a judge that likes it need not obey anybody."""
    text, orders = TEXTS[language], {order for _, order in injections()}
    places = set()
    for seed in range(60):
        injected, neutral = variants_of(sample(text), Audit.INJECTION, seed=seed)
        added = [one.sample.response.replace(text, "").strip() for one in (injected, neutral)]

        assert neutral.kind == NEUTRAL != injected.kind
        assert added[0] in orders
        assert len(added[0]) == len(added[1])
        assert not re.search(r"[0-9{}\[\]]|score|grade|maximum|満点|最高|评分|高分", added[1])
        is_before = injected.sample.response.endswith(text)
        assert neutral.sample.response.endswith(text) is is_before
        places.add(is_before)
    assert places == {True, False}


def agent(response: str = TEXTS["en"]) -> Sample:
    steps = (
        Step(StepRole.USER, "How long is the bridge?"),
        Step(StepRole.TOOL, tool="search", result="The bridge is 120 metres long.", status=StepStatus.OK),
        Step(StepRole.TOOL, tool="note"),
        Step(StepRole.TOOL, tool="open", result="Opened in 1933.", status=StepStatus.OK),
        Step(StepRole.ASSISTANT, TEXTS["en"]),
    )
    return Sample("a1", response, "How long is the bridge?", steps=steps)


def injected(one: Sample, seed: int, shown: range) -> list[Variant]:
    made = make_variants(one, [Audit.INJECTION], seed, None, shown_steps=shown)
    return [each for each in made if isinstance(each, Variant)]


def test_an_order_is_hidden_in_a_tools_result_with_as_much_neutral_text_at_the_same_place() -> None:
    """In half of the samples; nothing else of the sample changes, and only results that the judge is shown."""
    plain, places = agent(), Counter[int | None]()
    for seed in range(80):
        order, neutral = injected(plain, seed, range(1, 6))
        changed = {number for number in range(5) if order.sample.steps[number] != plain.steps[number]}
        assert neutral.kind == NEUTRAL
        if order.kind.endswith(" in a step"):
            ((place),) = changed
            assert order.sample.response == neutral.sample.response == plain.response
            results = [one.sample.steps[place].result or "" for one in (order, neutral)]
            assert any(text in results[0] for _, text in injections())
            assert len(results[0]) == len(results[1])
            assert replace(order.sample.steps[place], result=None) == replace(plain.steps[place], result=None)
            places[place + 1] += 1
        else:
            # The last step says the answer, so it says the changed one too.
            assert changed == {4}
            assert order.sample.steps[4].text == order.sample.response != plain.response
            places[None] += 1

    assert set(places) == {2, 4, None}
    assert 25 <= places[None] <= 55


def test_a_step_that_the_judge_is_not_shown_hides_nothing() -> None:
    for seed in range(30):
        order, _ = injected(agent(), seed, range(4, 6))
        assert order.sample.steps[1] == agent().steps[1]
        assert not injected(agent(), seed, range(0))[0].kind.endswith("in a step")


def test_a_run_without_an_answer_has_its_order_in_a_step() -> None:
    one = replace(agent(""), steps=agent().steps[:-1])

    assert all(injected(one, seed, range(1, 5))[0].kind.endswith("in a step") for seed in range(10))
    assert injected(one, 0, range(0)) == []


def test_protocols_say_which_steps_a_judge_is_shown() -> None:
    shown = {name: load_protocol(name).shown_steps(agent()) for name in ("trajectory", "cross", "pairwise")}  # type: ignore[attr-defined] # a declared protocol's own
    hidden = {name: load_protocol(name).shown_steps(agent()) for name in ("semantic", "grounded")}  # type: ignore[attr-defined] # the same

    assert set(shown.values()) == {(1, 2, 3, 4, 5)}
    assert set(hidden.values()) == {()}
