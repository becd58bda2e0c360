"""Fills the tables of docs/settings.md from the models that read the files; with --check, only compares.

What stands between the marks `<!-- NAME -->` and `<!-- end -->` is made here, the rest of the page is written by hand.
"""

import enum
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from scripts.generated_pages import write_or_compare

from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.prompt_builder.constants import TEMPLATE_VARIABLES
from mixseek.prompt_builder.models import PromptBuilderSettings
from mixseek.settings.models import ENVIRONMENT_PREFIX, JudgeDefaults, JudgeSettings, Settings

TARGET = Path(__file__).parent.parent / "docs" / "settings.md"
_SECTION = re.compile(r"(?<=^<!-- )(?!end)([a-z]+)( -->\n).*?(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)
_BOUNDS = {annotated_types.Ge: "≥", annotated_types.Gt: ">", annotated_types.Le: "≤", annotated_types.Lt: "<"}
_WORDS: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true`, `false`",
    Path: "path",
    Any: "anything",
}


def describe_type(annotation: Any) -> str:
    """In the words of somebody who writes TOML."""
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(describe_type(one) for one in arguments if one is not types.NoneType)
    if origin is typing.Literal:
        return ", ".join(f"`{one}`" for one in arguments)
    if origin is tuple:
        return f"list of {describe_type(arguments[0])}s"
    if origin is dict:
        held = describe_type(arguments[1])
        return "table" if held == "anything" else f"table of {held}s"
    if isinstance(annotation, type) and issubclass(annotation, enum.StrEnum):
        return ", ".join(f"`{one}`" for one in annotation)
    return _WORDS[annotation]


def describe_field(field: FieldInfo) -> str:
    """Type and bounds."""
    bounds = [
        f"{sign} {getattr(one, kind.__name__.lower()):g}"
        for one in field.metadata
        for kind, sign in _BOUNDS.items()
        if isinstance(one, kind)
    ]
    return ", ".join([describe_type(field.annotation), *bounds])


def describe_default(field: FieldInfo) -> str:
    """As it would stand in the file; a dash for what is not there unless it is given."""
    value = field.get_default(call_default_factory=True)
    if value is None or value == {}:
        return "–"
    shown = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    return f"`{toml_value(shown)}`"


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def table(model: type[BaseModel], keys: Callable[[str], str] = "`{}`".format) -> str:
    """A row for each key that holds a value; tables inside it have a section of their own."""
    rows = [
        f"| {keys(name)} | {describe_field(field)} | {describe_default(field)} | {field.description} |"
        for name, field in model.model_fields.items()
        if not holds_tables(field.annotation)
    ]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])


def holds_tables(annotation: Any) -> bool:
    found = (annotation, *typing.get_args(annotation))
    return any(isinstance(one, type) and issubclass(one, BaseModel) for one in found)


def with_variable(path: str) -> Callable[[str], str]:
    """The key, and the environment variable that wins over it."""
    return lambda name: f"`{name}`<br>`{ENVIRONMENT_PREFIX}{path}{name.upper()}`"


def providers() -> str:
    rows = [
        f"| `{name}` | {one.wire} | {f'`{one.base_url}`' if one.base_url else '–'} | "
        f"{f'`{one.url_variable}`' if one.url_variable else '–'} | "
        f"{' or '.join(f'`{key}`' for key in one.key_variables) or '–'}{'' if one.key_required else ' (not needed)'} |"
        for name, one in PROVIDERS.items()
    ]
    head = "| provider | wire | address | variable of the address | variable of the key |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])


def prompts() -> str:
    """The defaults are whole texts: they stand in the source."""
    rows = [
        f"| `{name}`<br>`{ENVIRONMENT_PREFIX}{name.upper()}`<br>`{PromptBuilderSettings.exact_prefix}{name.upper()}` | "
        f"{field.description} | {', '.join(f'`{one}`' for one in sorted(TEMPLATE_VARIABLES[name]))} |"
        for name, field in PromptBuilderSettings.model_fields.items()
    ]
    return "\n".join(["| key | the prompt of | variables it may use |", "|---|---|---|", *rows])


SECTIONS: Mapping[str, Callable[[], str]] = {
    "top": lambda: table(Settings, with_variable("")),
    "judge": lambda: table(JudgeDefaults, with_variable("JUDGE__")),
    "judges": lambda: table(JudgeSettings),
    "providers": providers,
    "prompts": prompts,
}


def fill(page: str) -> str:
    """The page with every section made anew; a mark that nobody knows is a KeyError."""
    return _SECTION.sub(lambda found: f"{found[1]}{found[2]}\n{SECTIONS[found[1]]()}\n\n", page)


if __name__ == "__main__":
    sys.exit(write_or_compare(TARGET, fill(TARGET.read_text(encoding="utf-8")), sys.argv[1:]))
