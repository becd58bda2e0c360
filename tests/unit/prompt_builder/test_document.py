"""Seed 004, table by table and line by line: fields, defaults, messages, variables, transitions, conversions."""

import asyncio
import hashlib
import importlib
import inspect
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from mixseek.domain.rounds import LeaderBoardReader, RoundState
from mixseek.errors import ConfigurationError
from mixseek.prompt_builder import constants
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import EvaluatorPromptContext, PromptBuilderSettings, RoundPromptContext

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEEDS = Path(__file__).resolve().parents[4] / "shared" / "seeds"
DIGESTS = {
    "DEFAULT_EVALUATOR_USER_PROMPT": "938dab56620b940e3457b9019e57ef9a12fd74b0fb6bfa032f08e02cbc87859a",
    "DEFAULT_JUDGMENT_USER_PROMPT": "fcbcbc72eeaf96e2c92d2544b21aeadd9a080d26fdb50076a44668477ae49467",
}
ROUND_FIELDS: dict[str, Any] = {
    "user_prompt": "q",
    "round_number": 1,
    "round_history": [],
    "team_id": "t",
    "team_name": "T",
    "execution_id": "e",
}


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("MIXSEEK_WORKSPACE", "TZ"):
        monkeypatch.delenv(name, raising=False)


def builder_with(**templates: str) -> UserPromptBuilder:
    """Templates past the check at loading, as an older settings object may hold them."""
    settings = PromptBuilderSettings.model_construct(**{**PromptBuilderSettings().model_dump(), **templates})
    return UserPromptBuilder(settings=settings, clock=lambda: NOON)


# --- where the document puts things


def test_every_name_has_the_home_that_the_document_gives_it() -> None:
    """`src/mixseek/prompt_builder/{models,constants,builder,formatters}.py`, and the package itself as a door."""
    homes = {
        "UserPromptBuilder": "builder",
        "EvaluatorPromptContext": "models",
        "RoundPromptContext": "models",
        "PromptBuilderSettings": "models",
        "format_submission_history": "formatters",
        "format_ranking_table": "formatters",
        "generate_position_message": "formatters",
        "get_current_datetime_with_timezone": "formatters",
    }
    modules = {name: importlib.import_module(f"mixseek.prompt_builder.{home}") for name, home in homes.items()}

    assert {name: getattr(module, name).__module__ for name, module in modules.items()} == {
        name: f"mixseek.prompt_builder.{home}" for name, home in homes.items()
    }
    assert all(isinstance(getattr(constants, name), str) for name in (*DIGESTS, "DEFAULT_TEAM_USER_PROMPT"))


def test_the_package_offers_what_whoever_builds_a_prompt_needs() -> None:
    """The same objects as in their homes."""
    package = importlib.import_module("mixseek.prompt_builder")

    assert package.UserPromptBuilder is UserPromptBuilder
    assert package.EvaluatorPromptContext is EvaluatorPromptContext
    assert package.RoundPromptContext is RoundPromptContext
    assert package.PromptBuilderSettings is PromptBuilderSettings


# --- §1 and §3: contexts


def test_evaluator_context_has_exactly_the_fields_of_the_table() -> None:
    """Two required strings; `current_datetime` of the diagram is not one of them, as the text says twice."""
    fields = EvaluatorPromptContext.model_fields

    assert {name: (field.annotation, field.is_required()) for name, field in fields.items()} == {
        "user_query": (str, True),
        "submission": (str, True),
    }
    with pytest.raises(ValidationError):
        EvaluatorPromptContext.model_validate({"user_query": "q", "submission": "s", "current_datetime": "now"})


@pytest.mark.parametrize("empty", ["", " ", "\n\t", "\u3000"])
@pytest.mark.parametrize("field", ["user_query", "submission"])
def test_evaluator_context_refuses_empty_text_in_the_documents_words(field: str, empty: str) -> None:
    """`{field_name} cannot be empty`, as a ValueError inside pydantic's ValidationError."""
    with pytest.raises(ValidationError) as caught:
        EvaluatorPromptContext(**{"user_query": "q", "submission": "s", field: empty})

    assert [error["msg"] for error in caught.value.errors()] == [f"Value error, {field} cannot be empty"]
    assert isinstance(caught.value, ValueError)


def test_evaluator_context_keeps_text_as_it_is() -> None:
    """Checked, not trimmed."""
    context = EvaluatorPromptContext(user_query=" q\n", submission="\ts ")

    assert (context.user_query, context.submission) == (" q\n", "\ts ")


def test_round_context_has_exactly_the_fields_of_the_table() -> None:
    """Seven fields in the table's order; only the store may be left out."""
    fields = RoundPromptContext.model_fields

    assert {name: (field.annotation, field.is_required()) for name, field in fields.items()} == {
        "user_prompt": (str, True),
        "round_number": (int, True),
        "round_history": (list[RoundState], True),
        "team_id": (str, True),
        "team_name": (str, True),
        "execution_id": (str, True),
        "store": (LeaderBoardReader | None, False),
    }
    assert list(fields) == [*ROUND_FIELDS, "store"]
    assert RoundPromptContext(**ROUND_FIELDS).store is None


@pytest.mark.parametrize("field", list(ROUND_FIELDS))
def test_round_context_needs_every_required_field(field: str) -> None:
    """Left out is not empty."""
    with pytest.raises(ValidationError):
        RoundPromptContext(**{name: value for name, value in ROUND_FIELDS.items() if name != field})


@pytest.mark.parametrize("number", [0, -1])
def test_round_context_counts_from_one(number: int) -> None:
    """現在のラウンド番号（>=1）."""
    with pytest.raises(ValidationError, match="round_number must be >= 1"):
        RoundPromptContext(**{**ROUND_FIELDS, "round_number": number})


@pytest.mark.parametrize("field", ["user_prompt", "team_id", "team_name", "execution_id"])
def test_round_context_refuses_empty_text(field: str) -> None:
    """One rule for both contexts."""
    with pytest.raises(ValidationError, match=f"{field} cannot be empty"):
        RoundPromptContext(**{**ROUND_FIELDS, field: " "})


def test_round_context_refuses_a_store_that_cannot_rank() -> None:
    """A store is known by what it can do."""
    with pytest.raises(ValidationError):
        RoundPromptContext(**ROUND_FIELDS, store=object())  # type: ignore[arg-type] # what an untyped caller may pass


# --- §2: settings


def test_settings_have_exactly_the_fields_and_defaults_of_the_table() -> None:
    """Three templates; environment and file are read by a test of their own."""
    settings = PromptBuilderSettings()

    assert settings.model_dump() == {
        "team_user_prompt": constants.DEFAULT_TEAM_USER_PROMPT,
        "evaluator_user_prompt": constants.DEFAULT_EVALUATOR_USER_PROMPT,
        "judgment_user_prompt": constants.DEFAULT_JUDGMENT_USER_PROMPT,
    }
    assert isinstance(settings, BaseSettings)
    config = PromptBuilderSettings.model_config
    assert (config["env_prefix"], config["toml_file"], config["env_file_encoding"]) == (
        "MIXSEEK_",
        "configs/prompt_builder.toml",
        "utf-8",
    )


@pytest.mark.parametrize("empty", ["", " ", "\n\n"])
@pytest.mark.parametrize("field", ["team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt"])
def test_settings_refuse_an_empty_template_in_the_documents_words(field: str, empty: str) -> None:
    """And name the field, which the document's message leaves to guess."""
    with pytest.raises(ValidationError) as caught:
        PromptBuilderSettings(**{field: empty})

    assert [error["msg"] for error in caught.value.errors()] == [
        f"Value error, {field}: prompt template cannot be empty"
    ]


# --- constants


@pytest.mark.parametrize("name", list(DIGESTS))
def test_default_texts_are_the_documents(name: str) -> None:
    """By digest always; against the document itself where it lies beside the project."""
    text = getattr(constants, name)

    assert hashlib.sha256(text.encode()).hexdigest() == DIGESTS[name]
    for document in SEEDS.glob("004*"):
        (block,) = re.findall(
            rf'^{name} = """(.*?)"""$', document.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        assert text == block


EVALUATOR_VARIABLES = ["user_query", "submission", "current_datetime"]
ROUND_VARIABLES = [
    "user_prompt", "submission_history", "ranking_table", "team_position_message", "current_datetime", "round_number",
]  # fmt: skip


@pytest.mark.parametrize("variable", [*EVALUATOR_VARIABLES, "user_prompt"])
def test_the_evaluators_template_may_use_each_variable(variable: str) -> None:
    """The document's three, and `user_prompt` as another name for the query."""
    builder = UserPromptBuilder(
        settings=PromptBuilderSettings(evaluator_user_prompt=f"[{{{{ {variable} }}}}]{{{{ submission }}}}")
    )
    prompt = builder.build_evaluator_prompt(EvaluatorPromptContext(user_query="the query", submission="the text"))

    assert {"user_query": "the query", "user_prompt": "the query", "submission": "the text"}.get(variable, "") in prompt
    assert len(prompt) > len("[]")


@pytest.mark.parametrize("variable", ROUND_VARIABLES)
@pytest.mark.parametrize("kind", ["team", "judgment"])
def test_the_round_templates_may_use_each_variable(kind: str, variable: str) -> None:
    """The document's six, in both."""
    settings = PromptBuilderSettings(**{f"{kind}_user_prompt": f"{{{{ {variable} }}}}"})
    builder = UserPromptBuilder(settings=settings, clock=lambda: NOON)
    prompt = asyncio.run(getattr(builder, f"build_{kind}_prompt")(RoundPromptContext(**ROUND_FIELDS)))

    assert (
        prompt
        == {
            "user_prompt": "q",
            "submission_history": "まだ過去の提出はありません。",
            "ranking_table": "",
            "team_position_message": "",
            "current_datetime": "2026-03-01T12:00:00+00:00",
            "round_number": "1",
        }[variable]
    )


@pytest.mark.parametrize(
    ("field", "variable"),
    [("evaluator_user_prompt", "round_number"), ("judgment_user_prompt", "user_query"), ("team_user_prompt", "usr")],
)
def test_another_variable_is_refused_when_the_settings_load(field: str, variable: str) -> None:
    """Before anything is asked, and with the names that there are."""
    with pytest.raises(RuntimeError, match=rf"^Jinja2 template error: {field}:1: unknown variable '{variable}'.*"):
        PromptBuilderSettings(**{field: f"{{{{ {variable} }}}}"})


# --- the builder of the diagram


def test_the_builder_has_the_parts_of_the_diagram(tmp_path: Path) -> None:
    """workspace, store, settings, jinja_env; the environment is sandboxed and strict."""
    settings = PromptBuilderSettings()
    builder = UserPromptBuilder(workspace=tmp_path, store=None, settings=settings)

    assert (builder.workspace, builder.store, builder.settings) == (tmp_path, None, settings)
    assert isinstance(builder.jinja_env, ImmutableSandboxedEnvironment)
    assert builder.jinja_env.undefined is StrictUndefined
    assert UserPromptBuilder().settings == settings


def test_only_the_evaluators_prompt_is_built_without_waiting() -> None:
    """The other two read the leader board."""
    coroutines = [
        name
        for name in ("build_team_prompt", "build_evaluator_prompt", "build_judgment_prompt")
        if inspect.iscoroutinefunction(getattr(UserPromptBuilder, name))
    ]

    assert coroutines == ["build_team_prompt", "build_judgment_prompt"]


# --- state transitions and conversions of errors

BROKEN_TEMPLATES = {
    "syntax": "{{ user_prompt",
    "unknown tag": "{% nonsense %}",
    "unknown filter": "{{ user_prompt | nonsense }}",
    "undefined variable": "{{ nobody }}",
    "undefined attribute": "{{ user_prompt.nobody.nothing }}",
    "arithmetic": "{{ 1 // 0 }}",
    "types": "{{ user_prompt + 1 }}",
    "forbidden attribute": "{{ user_prompt.__class__.__mro__ }}",
    "another file": "{% include 'secret' %}",
}


@pytest.mark.parametrize("fault", BROKEN_TEMPLATES)
@pytest.mark.parametrize("kind", ["team", "evaluator", "judgment"])
def test_any_failure_of_a_template_is_a_runtime_error(kind: str, fault: str) -> None:
    """Not only the two exceptions that the document names; and one line for a person at the same time."""
    with pytest.raises(RuntimeError, match=r"^Jinja2 template error: \S") as caught:
        build(builder_with(**{f"{kind}_user_prompt": BROKEN_TEMPLATES[fault]}), kind)

    assert isinstance(caught.value, ConfigurationError)
    assert not isinstance(caught.value, ValueError)


@pytest.mark.parametrize("fault", ["syntax", "unknown tag", "unknown filter", "undefined variable", "another file"])
@pytest.mark.parametrize("kind", ["team", "evaluator", "judgment"])
def test_what_can_be_seen_without_data_is_refused_when_the_settings_load(kind: str, fault: str) -> None:
    """After the settings have loaded, a round may already have been paid for."""
    with pytest.raises(RuntimeError, match=rf"^Jinja2 template error: {kind}_user_prompt:"):
        PromptBuilderSettings(**{f"{kind}_user_prompt": BROKEN_TEMPLATES[fault]})


def build(builder: UserPromptBuilder, kind: str) -> str:
    if kind == "evaluator":
        return builder.build_evaluator_prompt(EvaluatorPromptContext(user_query="q", submission="s"))
    method = builder.build_team_prompt if kind == "team" else builder.build_judgment_prompt
    return asyncio.run(method(RoundPromptContext(**ROUND_FIELDS)))


def test_the_evaluators_transition_ends_in_the_finished_prompt() -> None:
    """EvaluationRequest → context → builder → text; the time is read while rendering, not before."""
    moments = iter([NOON, NOON.replace(hour=13)])
    builder = UserPromptBuilder(settings=PromptBuilderSettings(), clock=lambda: next(moments))
    context = EvaluatorPromptContext(user_query="Pythonとは何ですか？", submission="Pythonは言語です。")

    first, second = builder.build_evaluator_prompt(context), builder.build_evaluator_prompt(context)

    assert first.startswith("---\n現在日時: 2026-03-01T12:00:00+00:00\n---\n")
    assert second.startswith("---\n現在日時: 2026-03-01T13:00:00+00:00\n---\n")
    assert "# ユーザクエリ\nPythonとは何ですか？\n\n# 提出内容\n" in first
    assert "\nPythonは言語です。\n" in first


def test_the_judgments_transition_ends_in_the_finished_prompt() -> None:
    """Without a store the leader board is empty, as `if store else ""` says."""
    builder = UserPromptBuilder(settings=PromptBuilderSettings(), clock=lambda: NOON)
    context = RoundPromptContext(**{**ROUND_FIELDS, "round_history": [RoundState(1, "text", 50.0)], "round_number": 2})
    prompt = asyncio.run(builder.build_judgment_prompt(context))

    assert prompt.startswith("# タスク\n以下の提出履歴に基づいて、")
    assert "## ラウンド 1\n### スコア: 50.00/100\n" in prompt
    assert prompt.endswith("# リーダーボード\n\n")


def test_a_context_is_checked_before_the_builder_sees_it() -> None:
    """ValidationError, never RuntimeError: the two exits of the diagram are told apart."""
    with pytest.raises(ValidationError) as caught:
        builder_with().build_evaluator_prompt(EvaluatorPromptContext(user_query="", submission="s"))

    assert not isinstance(caught.value, RuntimeError)
