"""A user's own scored protocol needs one file; everything that contradicts itself is said before the first sample."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.nonces import NONCE, NONCES
from tests.unit.protocols.scored_replies import (
    CROSS_SAMPLE,
    CROSS_VALID,
    OWN_SAMPLE,
    OWN_TOML,
    OWN_VALID,
    RUBRIC_SAMPLE,
    RUBRIC_TEXT,
    RUBRIC_VALID,
    changed,
    only_finding,
    parse_invalid,
    parse_valid,
    protocol_of,
)

from mixseek.domain.judgments import Flag, Reply, ValidJudgment
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.protocols.registry import describe, load_protocol
from mixseek.protocols.scored.prompt import VARIABLES
from mixseek.protocols.scored.protocol import ScoredProtocol


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "letters.toml"
    path.write_text(OWN_TOML, encoding="utf-8")
    return path


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_one_file_is_a_protocol_with_a_prompt_of_its_own_in_each_language(own: Path, language: str) -> None:
    protocol = load_protocol(str(own), language)
    system, user = (message.content for message in protocol.messages(OWN_SAMPLE, NONCES))

    for said in ("A_tone", "B_facts", "insults", "grade", "send", "7", "effort", "advice", "Judge a letter"):
        assert said in system
    title = {"en": "Nothing is made up.", "ja": "作り話がない。", "zh": "没有编造。"}[language]
    assert title in system
    assert f"<<<RESPONSE {NONCE}>>>\n{OWN_SAMPLE.response}\n<<<END RESPONSE {NONCE}>>>" in user
    assert '"letter": "letter-1"' in user
    assert OWN_SAMPLE.response not in system
    assert "\n\n\n" not in system + user


def test_templates_beside_the_file_replace_those_of_ours(own: Path) -> None:
    own.write_text(OWN_TOML.replace("[parameters]", '[templates]\nsystem = "mine.{language}.md.j2"\n[parameters]', 1))
    (own.parent / "mine.en.md.j2").write_text("Pass from {{ thresholds.send.at_least }} of {{ total.maximum }}.")
    system, user = load_protocol(str(own)).messages(OWN_SAMPLE, NONCES)

    assert system.content == "Pass from 7 of 9."
    assert "<<<RESPONSE" in user.content


def test_a_template_that_cannot_be_rendered_is_refused_before_the_first_sample(own: Path) -> None:
    own.write_text(OWN_TOML.replace("[parameters]", '[templates]\nsystem = "mine.{language}.md.j2"\n[parameters]', 1))
    (own.parent / "mine.en.md.j2").write_text("Judge as {{ nobody }} would.")

    with pytest.raises(ConfigurationError, match="nobody"):
        load_protocol(str(own))


def test_a_users_protocol_judges_like_any_other(own: Path) -> None:
    judgment = load_protocol(str(own)).parse(Reply(json.dumps(OWN_VALID), "j"), OWN_SAMPLE)

    assert isinstance(judgment, ValidJudgment)
    assert (judgment.verdict, judgment.score) == ("send", 7 / 9)
    assert judgment.fields["evidence"][0]["spans"] == [[42, 54]]
    assert describe(load_protocol(str(own)))["reply_schema"]["properties"]["grade"]["enum"] == [
        "unusable",
        "send",
        "rewrite",
    ]


def test_a_weighted_sum_weighs() -> None:
    flag, detail = only_finding(parse_invalid("letters", changed(OWN_VALID, "sum", 5)))

    assert flag is Flag.INTERNAL_INCONSISTENCY
    assert "add up to 7" in detail


def test_a_gate_zeroes_and_names_the_verdict() -> None:
    failed = {"scores": {"A_tone": 0, "B_facts": 0}, "sum": 0, "insults": True, "insult": "Rude.", "grade": "unusable"}

    assert parse_valid("letters", {**OWN_VALID, **failed}).verdict == "unusable"


def test_a_gate_without_effect_only_decides_the_verdict() -> None:
    gates = {"insults": {"reason_field": "insult", "effect": "none"}}
    value = {**OWN_VALID, "insults": True, "insult": "Rude.", "grade": "unusable"}

    judgment = parse_valid("letters", value, gates=gates)
    assert (judgment.verdict, judgment.fields["total"]) == ("unusable", 7)


def test_a_single_unnamed_type_counts_whatever_the_dataset_calls_its_tasks() -> None:
    """Where the reply names the type, the dataset's must be one of the protocol's."""
    poem = replace(OWN_SAMPLE, task_type="poem")
    types = {"letter": {"weights": {"A_tone": 1, "B_facts": 2}}}
    named = {"field": "kind", "types": types}
    said = {**OWN_VALID, "kind": "letter"}

    assert parse_valid("letters", OWN_VALID, poem).fields["task_type"] == "letter"
    assert parse_valid("letters", said, task_types=named).fields["task_type"] == "letter"
    assert "'poem' is not one of letter" in parse_invalid("letters", said, poem, task_types=named).findings[0].detail


def test_optional_words_may_be_left_out_or_null() -> None:
    assert parse_valid("letters", {**OWN_VALID, "effort": None}).verdict == "send"
    assert parse_valid("letters", {**OWN_VALID, "effort": "much"}).fields["effort"] == "much"
    assert "at most 20" in only_finding(parse_invalid("letters", {**OWN_VALID, "advice": "x" * 21}))[1]


def test_lower_can_be_better_and_a_scale_can_begin_at_one() -> None:
    scale = {"minimum": 1, "maximum": 3, "direction": "lower_is_better"}
    options: dict[str, Any] = {"scale": scale, "gates": {}, "verdict": {}}
    value = {key: OWN_VALID[key] for key in OWN_VALID if key not in ("insults", "insult", "grade")}

    best = parse_valid("letters", {**value, "scores": {"A_tone": 1, "B_facts": 1}, "sum": 3}, **options)
    worst = parse_valid("letters", {**value, "scores": {"A_tone": 3, "B_facts": 3}, "sum": 9}, **options)
    assert (best.score, worst.score, best.verdict) == (1.0, 0.0, "scored")
    assert (best.fields["total_minimum"], best.fields["total_maximum"]) == (3, 9)


CONTRADICTIONS: list[tuple[str, str, str]] = [
    ("maximum = 3", "maximum = 0", "scale: minimum 0 is not below maximum 0"),
    ("maximum = 3", "minimum = -1", "either scale.maximum is left out"),
    ("maximum = 3", "maximum = 2.5", 'values = "integer" needs whole numbers'),
    ("maximum = 3", "maximum = true", "scale.maximum"),
    ("maximum = 3", 'maximum = 3\nlabels = { 4 = "four" }', "scale.labels.4: not a value of the scale"),
    ("A_tone = 1, B_facts = 2", "A_tone = 1", "no weight for B_facts"),
    ("A_tone = 1, B_facts = 2", "A_tone = 1, B_facts = 2, C = 1", "no such dimension: C"),
    ("A_tone = 1, B_facts = 2", "A_tone = -1, B_facts = 2", "weights must not be negative"),
    ("A_tone = 1, B_facts = 2", "A_tone = 0, B_facts = 0", "not all zero"),
    ("A_tone = 1, B_facts = 2", "A_tone = 1.5, B_facts = 2", "whole weights"),
    ('rule = "weighted_sum"', "", "either scale.maximum is left out"),
    (
        'rule = "weighted_sum"',
        'rule = "weighted_sum"\nmaximum = 10',
        "the highest total is 9, but total.maximum says 10",
    ),
    ('rule = "weighted_sum"', 'rule = "product"', "total.rule"),
    (
        "[parameters.verdict.rules.send]",
        "[parameters.verdict.rules.all]\n[parameters.verdict.rules.send]",
        "put it last",
    ),
    (
        "[parameters.verdict.rules.rewrite]",
        "[parameters.verdict.rules.rewrite]\nat_most = 6",
        "end with one that has none",
    ),
    ('gate = "insults"', 'gate = "rudeness"', "verdict.rules.unusable.gate: no such gate: rudeness"),
    ('nonzero = ["A_tone"]', 'nonzero = ["tone"]', "no such dimension: tone"),
    ('reason_field = "insult"', 'conditions = "task_rubric"', "need a reason"),
    ('reason_field = "insult"', 'reason_field = "advice"', "advice: 2 parts of the reply have this name"),
    ('field = "sum"', 'field = "scores"', "scores: 2 parts of the reply"),
    ('field = "sum"', 'field = "A_tone"\nplace = "inside"', "total.field: A_tone is a dimension"),
    ('form = "map"', 'field = ""', 'policy "verified" needs a field'),
    ('form = "map"', 'quote_field = "dimension"', "must differ"),
    ('equals = "output_id"', 'equals = "author"', "identity.fields.letter.equals"),
    ('options = ["little", "much"]', "options = []", "choices.effort.options"),
    ('title = "Friendly tone"', "", "dimensions.A_tone.title: Field required"),
    ('title = "Friendly tone"', 'title = { ja = "丁寧" }', "dimensions.A_tone.title has no text in language 'en'"),
    ("maximum = 3", 'maximum = 3\ncolour = "red"', "scale.colour: Extra inputs"),
    (
        "[parameters.gates.insults]",
        '[parameters.task_types]\nfield = "kind"\ninferred_field = "kind"\n[parameters.gates.insults]',
        "kind: 2 parts",
    ),
    ("[parameters]", '[templates]\nother = "letters.toml"\n[parameters]', "templates may only be: system, user"),
]


@pytest.mark.parametrize(("old", "new", "words"), CONTRADICTIONS, ids=[words for _, _, words in CONTRADICTIONS])
def test_a_table_that_contradicts_itself_is_refused_with_its_place(own: Path, old: str, new: str, words: str) -> None:
    assert old in OWN_TOML
    own.write_text(OWN_TOML.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(ConfigurationError) as caught:
        load_protocol(str(own))

    assert words in str(caught.value)
    assert str(caught.value).startswith("letters.toml: ")
    assert "\n" not in str(caught.value)


def test_weights_without_types_and_types_without_weights_are_refused(own: Path) -> None:
    bare = OWN_TOML.replace("[parameters.task_types.types.letter]\nweights = { A_tone = 1, B_facts = 2 }\n", "")
    for text, words in (
        (bare, 'total.rule: "weighted_sum" needs weights'),
        (bare.replace('rule = "weighted_sum"', "").replace("maximum = 3", ""), "scale: no maximum"),
        (
            bare.replace('rule = "weighted_sum"', "").replace(
                "[parameters.gates", '[parameters.task_types]\nfield = "t"\n[parameters.gates', 1
            ),
            "task_types.field: there are no task types",
        ),
    ):
        own.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=words):
            load_protocol(str(own))


def loads(**parameters: Any) -> str:
    """What is wrong with the letters' table after a change; empty where nothing is."""
    try:
        protocol_of("letters", **parameters)
    except ConfigurationError as error:
        return str(error)
    return ""


WEIGHED: dict[str, Any] = {"scale": {"minimum": 1}, "total": {"field": "sum"}, "gates": {}, "verdict": {}}


@each(
    ("parameters", "words"),
    [
        ({"task_types": {"types": {"letter": {"weights": {"A_tone": 0, "B_facts": 2}}}}}, ""),
        ({"total": {"field": "sum", "rule": "weighted_sum", "maximum": 9}}, ""),
        ({"scale": {"minimum": 1, "maximum": 3}}, '"all_zero" needs a scale that holds 0'),
        ({"scale": {"minimum": -3, "maximum": -1}}, '"all_zero" needs a scale that holds 0'),
        ({"scale": {"minimum": -1, "maximum": 3}}, ""),
        ({"scale": {"minimum": 1, "maximum": 3}, "gates": {"insults": {"effect": "none"}}}, ""),
        ({**WEIGHED, "task_types": {"types": {"letter": {"weights": {"A_tone": 1, "B_facts": 2}}}}}, ""),
        (
            {**WEIGHED, "task_types": {"types": {"letter": {"weights": {"A_tone": 0, "B_facts": 2}}}}},
            "below the minimum 1",
        ),
        (
            {**WEIGHED, "task_types": {"types": {"letter": {"weights": {"A_tone": 1, "B_facts": 1}}}}},
            "not above the lowest",
        ),
        ({"identity": {"fields": {"a": {"equals": "id"}, "b": {"equals": "id"}}}}, '2 fields equal "id"'),
        ({"identity": {"fields": {"a": {"equals": "any"}, "b": {"equals": "any"}}}}, ""),
        ({"identity": {"fields": {"a": {"equals": "date"}, "b": {"equals": "date"}}}}, ""),
        ({"identity": {"place": "scores", "fields": {}}}, ""),
        ({"identity": {"place": "scores", "fields": {"a": {"equals": "id"}}}}, "scores: 2 parts of the reply"),
    ],
)
def test_the_edges_of_what_hangs_together(parameters: dict[str, Any], words: str) -> None:
    said = loads(**parameters)

    assert words in said
    assert bool(words) == bool(said)


def test_a_language_without_a_prompt_of_ours_needs_one_of_yours(own: Path) -> None:
    text = OWN_TOML.replace('languages = ["en", "ja", "zh"]', 'languages = ["fr"]').replace('"en"\n', '"fr"\n')
    text = text.replace("{ en =", "{ fr =")
    own.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigurationError, match=r"no prompt of our own in language 'fr'"):
        load_protocol(str(own))


@pytest.mark.parametrize("name", ["question_id", "prompt_variant", "target_model"])
def test_cross_does_not_ask_about_a_sample_that_nobody_could_place(name: str) -> None:
    absent: dict[str, Any] = {name: None}
    sample = replace(CROSS_SAMPLE, **absent)

    with pytest.raises(DatasetError, match=rf"sample 'harbour-1' has no {name}, which the cross protocol"):
        load_protocol("cross").messages(sample, NONCES)


@pytest.mark.parametrize("empty", [None, "", " "])
def test_an_output_without_a_name_is_named_by_its_id(empty: str | None) -> None:
    _, user = load_protocol("cross").messages(replace(CROSS_SAMPLE, output_id=empty), NONCES)

    assert '"output_id": "harbour-1"' in user.content


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_cell_names_nothing(empty: str) -> None:
    """What the sample does not say cannot be contradicted, and cannot be asked about."""
    sample = replace(CROSS_SAMPLE, question_id=empty)

    assert parse_valid("cross", CROSS_VALID, sample)
    with pytest.raises(DatasetError, match="has no question_id"):
        load_protocol("cross").messages(sample, NONCES)


def test_rubric_does_not_ask_without_a_rubric() -> None:
    with pytest.raises(DatasetError, match="has no rubric"):
        load_protocol("rubric").messages(replace(RUBRIC_SAMPLE, rubric=None), NONCES)


def test_a_task_without_a_name_may_be_left_unnamed_and_the_rubrics_name_counts() -> None:
    nameless = replace(RUBRIC_SAMPLE, task_name=None)
    named = replace(nameless, rubric=f"---\ntask_name: bridge\ntask_type: fact\n---\n{RUBRIC_TEXT}")

    assert parse_valid("rubric", {**RUBRIC_VALID, "task_name": None}, nameless)
    assert parse_valid("rubric", RUBRIC_VALID, named)
    assert only_finding(parse_invalid("rubric", {**RUBRIC_VALID, "task_name": "x"}, named))[0] is (
        Flag.INTERNAL_INCONSISTENCY
    )


def test_an_object_of_optional_names_may_be_left_out() -> None:
    identity = {"place": "about", "fields": {"letter": {"equals": "output_id", "required": False}}}
    bare = {key: value for key, value in OWN_VALID.items() if key != "letter"}

    assert parse_valid("letters", bare, identity=identity)
    assert parse_valid("letters", {**bare, "about": {}}, identity=identity)
    wrong = parse_invalid("letters", {**bare, "about": {"letter": "x"}}, identity=identity)
    assert only_finding(wrong)[0] is Flag.INTERNAL_INCONSISTENCY
    assert parse_invalid("letters", {**bare, "about": "x"}, identity=identity)


def test_a_judge_is_told_who_it_is_and_which_method_that_makes() -> None:
    protocol = load_protocol("cross")
    assert isinstance(protocol, ScoredProtocol)
    told = {
        judge: json.loads(protocol.for_judge(judge).messages(CROSS_SAMPLE, NONCES)[1].content.split("\n\n")[-2])
        for judge in ("alpha-7b", "beta")
    }

    assert [(one["judge_model"], one["method"]) for one in told.values()] == [
        ("alpha-7b", "self_judge"),
        ("beta", "cross_judge"),
    ]
    assert "method" not in protocol.messages(CROSS_SAMPLE, NONCES)[1].content


def test_every_template_variable_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "protocols.md").read_text(encoding="utf-8")

    assert [name for name in sorted(VARIABLES) if f"`{name}`" not in page and f"`{name}." not in page] == []


def test_template_syntax_in_a_sample_stays_text() -> None:
    sample = replace(RUBRIC_SAMPLE, response="{{ nonce }}{% if x %}", rubric=RUBRIC_TEXT + "{{ question }}")
    system, user = load_protocol("rubric").messages(sample, NONCES)

    assert "{{ question }}" in system.content
    assert "{{ nonce }}{% if x %}" in user.content


@pytest.mark.parametrize("name", ["rubric", "cross"])
@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_documentation_names_every_field_of_the_reply(name: str, language: str) -> None:
    protocol = load_protocol(name, language)
    assert isinstance(protocol, ScoredProtocol)
    page = protocol.documentation()

    assert protocol.hash in page
    for field in protocol.reply_schema["required"]:
        assert f"`{field}" in page
    for dimension in protocol.settings.dimensions:
        assert f"| `{dimension}` |" in page
    assert all(line.count(" | ") >= 1 for line in page.splitlines() if line.startswith("|"))


def test_the_documentation_follows_the_parameters() -> None:
    protocol = load_protocol("cross", "en", {"verdict": {"rules": {"PASS": {"at_least": 6}}}})
    assert isinstance(protocol, ScoredProtocol)

    assert "total ≥ 6" in protocol.documentation()
