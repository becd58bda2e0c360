"""Templates fail at load where they can, and never treat data as template."""

import pytest

from mixseek.errors import ConfigurationError, MixseekError, TemplateRenderError
from mixseek.templating.template import compile_template


def test_values_are_inserted_to_the_letter() -> None:
    template = compile_template("a {{ text }} b\n", {"text"}, "t.md.j2")

    assert template.render({"text": "<b>&amp;\n"}) == "a <b>&amp;\n b\n"


@pytest.mark.parametrize("data", ["{{ 7 * 7 }}", "{% raw %}", "{# gone? #}", "{{ text }}", "{%- endif %}", "{{"])
def test_template_syntax_inside_data_stays_text(data: str) -> None:
    template = compile_template("[{{ text }}]", {"text"}, "t.md.j2")

    assert template.render({"text": data}) == f"[{data}]"


def test_unknown_variable_is_named_with_file_line_and_suggestion_at_load() -> None:
    with pytest.raises(ConfigurationError, match=r"t\.md\.j2:3: unknown variable 'respnse'; did you mean 'response'"):
        compile_template("one\ntwo\n{{ respnse }}\n", {"response", "question"}, "t.md.j2")


def test_globals_of_jinja_are_not_available() -> None:
    """`range` and `lipsum` would otherwise slip through the check of variables."""
    with pytest.raises(ConfigurationError, match="unknown variable 'lipsum'"):
        compile_template("{{ lipsum() }}", set(), "t.md.j2")


@pytest.mark.parametrize("source", ["{{ text", "{% if text %}", "{{ text | no_such_filter }}", "{% endfor %}"])
def test_syntax_error_names_file_and_line(source: str) -> None:
    with pytest.raises(ConfigurationError, match=r"t\.md\.j2:2: not a valid Jinja2 template"):
        compile_template("\n" + source, {"text"}, "t.md.j2")


@pytest.mark.parametrize("source", ["{% include 'x' %}", "{% extends text %}", "{% import 'x' as y %}"])
def test_other_templates_cannot_be_reached(source: str) -> None:
    with pytest.raises(ConfigurationError, match="include, import and extends are not available"):
        compile_template(source, {"text"}, "t.md.j2")


@pytest.mark.parametrize(
    "source",
    [
        "{{ text.__class__.__mro__ }}",
        "{{ text.missing }}",
        "{{ text + 1 }}",
        "{{ 1 // 0 }}",
        "{{ items.append(1) }}",
        "{{ items[9] }}",
    ],
)
def test_what_fails_while_rendering_is_one_error_that_names_the_file(source: str) -> None:
    """Both a MixseekError, so that it ends in one line, and a RuntimeError, as seed 004 asks."""
    template = compile_template(source, {"text", "items"}, "t.md.j2")

    with pytest.raises(TemplateRenderError, match=r"^Jinja2 template error: t\.md\.j2: ") as caught:
        template.render({"text": "x", "items": []})

    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, MixseekError)


def test_variable_that_was_not_given_is_an_error_not_an_empty_string() -> None:
    template = compile_template("{{ text }}", {"text"}, "t.md.j2")

    with pytest.raises(TemplateRenderError, match="'text' is undefined"):
        template.render({})


def test_trailing_newline_is_kept() -> None:
    assert compile_template("a\n", set(), "t.md.j2").render({}) == "a\n"
