"""Every problem of a declaration is found at once, with its line and what was probably meant."""

from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import many

from mixseek.errors import ConfigurationError
from mixseek.protocols.lint import lint_protocol, task_types_of
from mixseek.protocols.registry import declaration_path, load_protocol, protocol_names

STARTER = (resources.files("mixseek.protocols").joinpath("starters/scored.toml").read_text(encoding="utf-8")).replace(
    '"NAME"', '"mine"'
)
THREE = STARTER.replace('languages = ["en"]', 'languages = ["en", "ja", "zh"]')


def line_in(text: str, piece: str) -> int:
    return text[: text.index(piece)].count("\n") + 1


def lint(directory: Path, text: str) -> list[tuple[int | None, str]]:
    path = directory / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return [(one.line, str(one)) for one in lint_protocol(path, "mine.toml")]


@pytest.mark.parametrize("name", protocol_names())
def test_the_built_in_protocols_lint_clean(name: str) -> None:
    assert lint_protocol(declaration_path(name), name) == []


def test_the_starter_lints_clean_and_loads(tmp_path: Path) -> None:
    assert lint(tmp_path, STARTER) == []
    assert load_protocol(str(tmp_path / "mine.toml")).name == "mine"


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    """Windows editors write one; the protocol is the same, to its hash, and complaints have the same lines."""
    lint(tmp_path, STARTER)
    plain = load_protocol(str(tmp_path / "mine.toml"))

    assert lint(tmp_path, "\ufeff" + STARTER) == []
    assert load_protocol(str(tmp_path / "mine.toml")).hash == plain.hash
    assert [line for line, _ in lint(tmp_path, "\ufeff[x")] == [1]


# What is changed into what, the place where the complaint is expected (a piece of the changed text), and what is said.
FAULTS: dict[str, tuple[str, str, str, str]] = {
    "TOML": ("version = ", "version ", 'version "1"', "not valid TOML: Expected '=' after a key"),
    "end of TOML": (
        "maximum_characters = 300\n",
        "maximum_characters = ",
        "maximum_characters = ",
        "not valid TOML: Invalid",
    ),
    "choice of types": (
        "minimum = 0",
        'minimum = "0"',
        'minimum = "0"',
        "valid integer or Input should be a valid number",
    ),
    "key of the head": ("default_language", "default_langage", "default_langage", "did you mean 'default_language'?"),
    "kind": ('kind = "scored"', 'kind = "scores"', 'kind = "scores"', "unknown kind 'scores'; did you mean 'scored'?"),
    "name": ('name = "mine"', 'name = "My Own"', 'name = "My Own"', "name: String should match pattern"),
    "default language": ('ge = "en"', 'ge = "ja"', "", "default_language 'ja' is not one of languages"),
    "table": ("[parameters.scale]", "[parameters.scales]", "[parameters.scales]", "unknown key parameters.scales"),
    "key": (
        "maximum = 4",
        "maximun = 4",
        "maximun = 4",
        "unknown key parameters.scale.maximun; did you mean 'maximum'?",
    ),
    "key of a gate": (
        "effect =",
        "efect =",
        "efect =",
        "unknown key parameters.gates.harmful.efect; did you mean 'effect'?",
    ),
    "key of a rule": ("at_most = 40", "atmost = 40", "atmost = 40", "did you mean 'at_most'?"),
    "far-off key": (
        "at_most = 40",
        "colour = 40",
        "colour = 40",
        "remove it; known here: at_most, at_least, nonzero, gate",
    ),
    "word": ('"all_zero"', '"zero"', 'effect = "zero"', "gates.harmful.effect: Input should be 'all_zero' or 'none'"),
    "truth is no number": (
        "minimum = 0",
        "minimum = true",
        "minimum = true",
        "parameters.scale.minimum: Input should be",
    ),
    "missing title": ('title = "Clarity"\n', "", "[parameters.dimensions.clarity]", "clarity.title is missing; add it"),
    "scale": ("maximum = 4", "maximum = 0", "[parameters.scale]", "minimum 0 is not below maximum 0"),
    "weights": (
        "clarity = 4 }",
        "clarity = 5 }",
        "weights = {",
        "the highest total is 104, but total.maximum says 100",
    ),
    "weight of nothing": ("clarity = 4 }", "clarty = 4 }", "weights = {", "no such dimension: clarty"),
    "no weight": (", clarity = 4 }", " }", "weights = {", "no weight for clarity"),
    "verdict above": (
        "at_least = 75",
        "at_least = 175",
        "[parameters.verdict.rules.good]",
        "above the highest total 100",
    ),
    "verdict shadowed": (
        "at_most = 40",
        "at_most = 74",
        "[parameters.verdict.rules.fair]",
        "is matched by rejected or",
    ),
    "verdict before the last": ("at_most = 40\n", "", "[parameters.verdict.rules.poor]", "put it last"),
    "gate of a rule": ('gate = "harmful"', 'gate = "harm"', 'gate = "harm"', "no such gate: harm"),
    "dimension of a rule": ('["accuracy"]', '["truth"]', "nonzero = ", "no such dimension: truth"),
    "role": ("# [templates]", "[templates]\nsytem = 'x'", "sytem", "unknown template 'sytem'; did you mean 'system'?"),
    "no such template": (
        "# [templates]",
        "[templates]\nuser = 'x.{language}.j2'",
        "user = 'x",
        "x.en.j2: cannot be read (No such file or directory); write it, or take its language out of languages",
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_each_fault_is_found_in_its_line(fault: tuple[str, str, str, str], tmp_path: Path) -> None:
    old, new, place, said = fault
    assert old in STARTER
    text = STARTER.replace(old, new, 1)
    found = lint(tmp_path, text)

    expected = line_in(text, place) if place else None
    assert [line for line, sentence in found if said in sentence] == [expected], found
    assert all(sentence.startswith("mine.toml:") for _, sentence in found)
    # Whatever the lint finds, loading refuses too; but for a verdict that is never reached, which harms nobody.
    if "can never be reached" not in found[0][1]:
        with pytest.raises(ConfigurationError):
            load_protocol(str(tmp_path / "mine.toml"))


def test_all_faults_are_found_at_once(tmp_path: Path) -> None:
    text = STARTER
    for name in ("key", "word", "key of a rule", "truth is no number", "kind", "missing title"):
        text = text.replace(FAULTS[name][0], FAULTS[name][1], 1)
    assert len(lint(tmp_path, text)) == 6
    assert len(lint(tmp_path, text.replace('"scores"', '"scored"', 1))) == 5
    # A kind that is nothing like ours hides what only its own kind can say.
    assert len(lint(tmp_path, text.replace('"scores"', '"x"', 1))) == 1


def test_a_declared_language_needs_every_text(tmp_path: Path) -> None:
    text = THREE.replace('title = "Clarity"', 'title = { en = "Clarity", ja = "明瞭さ" }')

    line = line_in(text, 'title = { en = "Clarity"')
    assert lint(tmp_path, text) == [
        (
            line,
            f"mine.toml:{line}: parameters.dimensions.clarity.title has no text in language 'zh'; "
            "add it, or take 'zh' out of languages",
        )
    ]


def test_a_language_without_a_prompt_of_ours_needs_templates(tmp_path: Path) -> None:
    text = STARTER.replace('languages = ["en"]', 'languages = ["en", "fr"]')

    assert [line for line, _ in lint(tmp_path, text)] == [line_in(text, "languages = [")] * 2


def test_weights_that_sum_differently_are_found_also_without_a_declared_total(tmp_path: Path) -> None:
    text = STARTER.replace("maximum = 100\n", "").replace(
        "[parameters.total]",
        "[parameters.task_types.types.short]\n"
        "weights = { accuracy = 1, completeness = 1, clarity = 1 }\n\n[parameters.total]",
    )

    ((line, said),) = lint(tmp_path, text)
    assert line == line_in(text, "[parameters.task_types.types.all]")
    assert "do not sum to the same total (all 100, short 12)" in said


def test_the_name_of_a_built_in_is_worth_a_hint(tmp_path: Path) -> None:
    ((_, said),) = lint(tmp_path, STARTER.replace('"mine"', '"cross"'))

    assert "hint: 'cross' is the name of a built-in protocol" in said


USER = "{{ nonce }}\n{{ question }}\n{{ response }}\n"
TEMPLATES: dict[str, tuple[str, str, str | None, int | None, str]] = {
    "fine": ("{{ instructions }}\n", USER, None, None, ""),
    "undeclared": (
        "a\n{{ instruction }}\n",
        USER,
        "system.en.j2",
        2,
        "unknown variable 'instruction'; did you mean 'instr",
    ),
    "undeclared in a loop": (
        "{% for x in dims %}{{ x }}{% endfor %}",
        USER,
        "system.en.j2",
        1,
        "unknown variable 'dims'",
    ),
    "syntax": ("a\nb {{ oh", USER, "system.en.j2", 2, "not a valid Jinja2 template"),
    "include": ("{% include 'x' %}", USER, "system.en.j2", None, "include, import and extends are not available"),
    "judged text in the system message": (
        "{{ response }}",
        USER,
        "system.en.j2",
        None,
        "would speak as the experimenter",
    ),
    "no response": ("x", "{{ nonce }}{{ question }}", "user.en.j2", None, "the prompt never shows the response"),
    "no nonce": ("x", "{{ response }}", "user.en.j2", None, "hint: the judge is not told which token closes a section"),
    "fails when rendered": ("{{ scale.maximum.x.y }}", USER, "system.en.j2", None, "has no attribute"),
}


@pytest.mark.parametrize("case", TEMPLATES.values(), ids=TEMPLATES)
def test_templates_are_linted_with_their_own_lines(
    case: tuple[str, str, str | None, int | None, str], tmp_path: Path
) -> None:
    system, user, where, line, said = case
    (tmp_path / "system.en.j2").write_text(system, encoding="utf-8")
    (tmp_path / "user.en.j2").write_text(user, encoding="utf-8")
    text = STARTER.replace("# [templates]", "[templates]\nsystem = 'system.{language}.j2'\nuser = 'user.{language}.j2'")
    found = lint(tmp_path, text)

    if where is None:
        assert found == []
    else:
        assert len(found) == 1, found
        assert found[0][0] == line
        assert found[0][1].startswith(f"{where}:")
        assert said in found[0][1]


def test_all_undeclared_variables_are_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "u.j2").write_text(USER + "{{ a }}\n{{ b }}\n{{ a }}\n", encoding="utf-8")
    found = lint(tmp_path, STARTER.replace("# [templates]", "[templates]\nuser = 'u.j2'"))

    assert [line for line, _ in found] == [4, 5]


def test_a_required_task_rubric_must_be_shown(tmp_path: Path) -> None:
    (tmp_path / "s.j2").write_text("Judge.", encoding="utf-8")
    text = STARTER.replace("# [templates]", "[templates]\nsystem = 's.j2'")
    found = lint(
        tmp_path, text.replace("[parameters.total]", "[parameters.task_rubric]\nrequired = true\n[parameters.total]")
    )

    assert ["the task rubric is required and never shown" in said for _, said in found] == [True]


def test_one_template_for_many_languages_is_worth_a_hint(tmp_path: Path) -> None:
    (tmp_path / "u.j2").write_text(USER, encoding="utf-8")
    found = lint(tmp_path, THREE.replace("# [templates]", "[templates]\nuser = 'u.j2'"))

    assert ["hint: templates.user has no {language}" in said for _, said in found] == [True]


def test_a_semantic_declaration_is_linted_by_loading_it(tmp_path: Path) -> None:
    source = declaration_path("semantic")
    text = source.read_text(encoding="utf-8").replace("../prompts/", f"{source.parent.parent / 'prompts'}/")

    assert lint(tmp_path, text.replace('name = "semantic"', 'name = "mine"')) == []
    ((_, said),) = lint(
        tmp_path, text.replace('name = "semantic"', 'name = "mine"').replace("minimum = 1", "minimum = 9")
    )
    assert "reasoning_score.minimum 9 is above maximum 5" in said


def test_a_file_that_cannot_be_read_is_no_complaint(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')

    with pytest.raises(ConfigurationError, match="cannot be read"):
        lint_protocol(tmp_path / "none.toml", "none.toml")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        lint_protocol(tmp_path / "latin.toml", "latin.toml")


def test_the_task_types_of_a_declaration_are_known_to_the_lint_of_rubrics(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("x = ", encoding="utf-8")

    assert task_types_of(declaration_path("rubric")) == ("fact", "creative", "speculative")
    assert task_types_of(declaration_path("semantic")) == ()
    assert task_types_of(tmp_path / "bad.toml") == ()


VALUES = [
    "true",
    "0",
    "-1",
    "1e9",
    '""',
    '"x"',
    "[]",
    "{}",
    '{ en = "x" }',
    '"accuracy"',
    "nan",
    "0.5",
    '["ja"]',
    '"none"',
]
CHANGES = st.tuples(
    st.integers(0, 10_000), st.sampled_from(["delete", "repeat", "value", "cut"]), st.sampled_from(VALUES)
)


def changed(text: str, changes: list[tuple[int, str, str]]) -> str:
    lines = text.split("\n")
    for number, what, value in changes:
        index = number % len(lines)
        match what:
            case "delete":
                del lines[index]
            case "repeat":
                lines.insert(index // 2, lines[index])
            case "value":
                lines[index] = f"{lines[index].partition('=')[0]}= {value}"
            case "cut":
                lines[index] = lines[index][: number % (len(lines[index]) + 1)]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def anywhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changed")


@given(st.lists(CHANGES, min_size=1, max_size=3))
@many(60)
def test_what_the_lint_passes_loads_and_what_does_not_load_it_names(
    anywhere: Path, changes: list[tuple[int, str, str]]
) -> None:
    found = lint(anywhere, changed(STARTER, changes))
    problems = [said for _, said in found if "hint: " not in said]
    try:
        load_protocol(str(anywhere / "mine.toml"))
    except ConfigurationError:
        assert problems
    else:
        assert [said for said in problems if "never be reached" not in said and "do not sum" not in said] == []
