"""Templates fail at load where they can, and never treat data as template."""

from collections.abc import Iterator

import pytest
from jinja2.runtime import Context
from tests.cases import each

from mixseek.errors import ConfigurationError, MixseekError, TemplateRenderError
from mixseek.templating import compile_template


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


BOMBS = [
    "{{ 'x' * 3000000000 }}",
    "{{ 3000000000 * 'x' }}",
    "{{ [text] * 1000000000 }}",
    "{{ 9 ** 9 ** 9 ** 9 }}",
    "{{ 2 ** 1000000 }}",
    "{% if 'x' * 3000000000 %}{% endif %}",
    "{% for a in text %}{% for b in text %}{% for c in text %}{% endfor %}{% endfor %}{% endfor %}",
    "{% for a in text recursive %}{{ loop(text) }}{% endfor %}",
    "{% macro m(x) %}{{ m(x ~ x) }}{% endmacro %}{{ m(text) }}",
    "{% filter upper %}{{ text }}{% endfilter %}",
    "{% set x %}{% for a in text %}{{ text }}{% endfor %}{% endset %}",
    "{% call text() %}{% endcall %}",
    "{{ text|center(1000000000) }}",
    "{{ 'x'.center(1000000000) }}",
    "{{ 'x'.zfill(1000000000) }}",
    "{{ 'x'.ljust(1000000000) }}",
    "{{ '{:1000000000}'.format(1) }}",
    "{{ '%01000000000d' % 1 }}",
    "{{ '%01000000000d'|format(1) }}",
    "{{ text|indent(1000000000) }}" * 2 + "{{ 'a' ~ 1 // 0 }}",
    "{{ (5).to_bytes(1000000000) }}",
    "{{ 1|round(1000000000) }}",
    "{{ text|list|slice(1000000000)|list }}",
    "{{ text|list|batch(1000000000, 'x')|list }}",
    "{{ text" + "|replace('a', 'aaaaaaaaaaaaaaaaaaaa')" * 12 + " }}",
    "{{ text|list|join(text|replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaa'))|replace('', text) }}",
    "{% for a in text %}{{ text|replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') }}{% endfor %}",
    "{% for a in text %}{% for b in text %}{{ text|sort|length }}{% endfor %}{% endfor %}",
    "{{ " + "~".join(["text"] * 6_000) + " }}",
    "{{ " + "(" * 3_000 + "1" + ")" * 3_000 + " }}",
    "{{ " + "[" * 3_000 + "1" + "]" * 3_000 + " }}",
    "{{ " + "not " * 100_000 + "1 }}",
    "{{ 1" + " + 1" * 10_000 + " }}",
    "{% if 1 %}" * 3_000 + "{% endif %}" * 3_000,
    "{{ " + "9" * 5_000 + " }}",
    "{{ text.a" + ".b" * 20_000 + " }}",
    "x" * 200_001,
    "{{ lipsum(1000000) }}",
    "{% for i in range(1000000000) %}{% endfor %}",
    "{{ text|pprint|wordwrap|random }}",
]


@pytest.mark.parametrize("source", BOMBS, ids=range(len(BOMBS)))
def test_no_template_can_hang_or_eat_the_machine(source: str) -> None:
    """Each of these took gigabytes, minutes or a traceback; each is one line about the template."""
    with pytest.raises(ConfigurationError) as caught:
        compile_template(source, {"text"}, "t.md.j2").render({"text": "a" * 2_000})

    assert "t.md.j2" in str(caught.value)
    assert len(str(caught.value)) < 500


@each(
    ("source", "expected"),
    [
        ("{{ 2 * 3 + 1 - 4 / 2 }}", "5.0"),
        ("{{ 'a' ~ 1 ~ text }}", "a1xy"),
        ("{{ 'a' + text }}", "axy"),
        (
            "{% for one in items %}{{ loop.index }}/{{ loop.length }}{{ '' if loop.last else ', ' }}{% endfor %}",
            "1/2, 2/2",
        ),
        ("{% for k, v in table.items() %}{{ k }}={{ v }};{% else %}none{% endfor %}", "k=1;"),
        ("{{ items | map(attribute='name') | join(', ') }}", "ann, bob"),
        ("{{ items | join('|', attribute='name') }}", "ann|bob"),
        ("{{ items | selectattr('name', 'equalto', 'bob') | list | length }}", "1"),
        ("{{ text | upper | replace('X', 'z') }}", "zY"),
        ("{{ 'a\nb' | indent(2) }}", "a\n  b"),
        ("{{ 'a\nb' | indent(2, first=true) }}", "  a\n  b"),
        ("{{ 2.345 | round(1) }}", "2.3"),
        ("{{ text.startswith('x') }} {{ text.strip().upper() }}", "True XY"),
        ("{{ missing | default('none') if missing is defined else 'gone' }}", "gone"),
        ("{% set a = text %}{{ a }}", "xy"),
        ("{{ items | batch(1) | list | length }}", "2"),
        ("{{ table | tojson }}", '{"k": 1}'),
    ],
)
def test_what_prompts_need_is_there(source: str, expected: str) -> None:
    """Arithmetic, loops, the plain filters and methods."""
    variables = {"text": "xy", "items": [{"name": "ann"}, {"name": "bob"}], "table": {"k": 1}}
    template = compile_template(source, {*variables, "missing"}, "t.md.j2")

    assert template.render(variables) == expected


def test_a_prompt_may_show_a_long_text_several_times() -> None:
    """What is bounded is what a template makes of its texts, not how long they are."""
    long = "x" * 8_000_000

    assert compile_template("{{ text }}{{ text }}", {"text"}, "t.md.j2").render({"text": long}) == long + long


def test_what_takes_no_variables_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's message is most of a prompt, and the same for every sample of a run."""
    template = compile_template("Judge {{ 'fairly' | upper }}.", (), "once.txt")
    renderings: list[object] = []
    generate = template.compiled.root_render_func

    def record(context: Context) -> Iterator[str]:
        renderings.append(context)
        return generate(context)

    monkeypatch.setattr(template.compiled, "root_render_func", record)

    assert [template.render({}), template.render({})] == ["Judge FAIRLY.", "Judge FAIRLY."]
    assert len(renderings) == 1
