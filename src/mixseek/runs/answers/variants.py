"""Prompt variants: templates that make messages of a question."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mixseek.datasets.questions import Question
from mixseek.datasets.rows import list_names
from mixseek.errors import ConfigurationError, TemplateRenderError, suggest
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.answers import open_turns
from mixseek.settings.text_files import decode_text, read_bounded
from mixseek.storage.workspace import check_run_name
from mixseek.templating import StrictTemplate, compile_template, used_variables

# The variant of whoever names none: the question as it stands.
PLAIN_VARIANT = "plain"
# What a template may name besides the columns of the file.
_OF_QUESTION = ("id", "question", "ground_truth", "system", "rubric", "task_name", "task_type")
_SYSTEM, _USER = "system", "user"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking; None for a part is the question's own."""

    name: str
    user: str | None = None
    system: str | None = None
    # Where its texts come from, for messages.
    where: str = ""

    @property
    def sha256(self) -> str:
        """A digest of its texts; the same text from another file is the same variant."""
        parts = (self.user, self.system)
        text = "\x1f".join("\x00" if part is None else part for part in parts)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def description(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {"sha256": self.sha256, "user": self.user, "system": self.system, "where": self.where}


class VariantRenderer:
    """The templates of a variant, compiled once; every name in them must be a column of every question asked."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self._templates: dict[str, StrictTemplate] = {}
        for role, source in ((_USER, self.variant.user), (_SYSTEM, self.variant.system)):
            if source is not None:
                where = f"{self.variant.where or 'variant'} ({role} of variant {self.variant.name})"
                self._templates[role] = compile_template(source, used_variables(source), where)

    def messages(self, question: Question) -> list[dict[str, Any]]:
        """What the target is sent; raises ConfigurationError where the question lacks what the template names."""
        turns = [dict(turn) for turn in question.messages] or [{"role": _USER, "content": question.text}]
        if _USER in self._templates:
            # Of a conversation, what its user says last before the first turn to be filled in.
            asked = [place for place in range(min(open_turns(turns) or [len(turns)])) if turns[place]["role"] == _USER]
            if not asked:
                raise ConfigurationError(f"variant {self.variant.name}: the user says nothing in {question.id!r}")
            turns[asked[-1]]["content"] = self._render(_USER, question, turns[asked[-1]]["content"])
        system = self._render(_SYSTEM, question, question.text) if _SYSTEM in self._templates else question.system
        if system:
            turns = [{"role": _SYSTEM, "content": system}, *(turn for turn in turns if turn["role"] != _SYSTEM)]
        return turns

    def _render(self, role: str, question: Question, text: str) -> str:
        values = {name: value for name in _OF_QUESTION if (value := getattr(question, name, None)) is not None}
        columns = {str(name): value for name, value in question.columns.items() if str(name).isidentifier()}
        known = {**values, **columns, "id": question.id, "question": text}
        template = self._templates[role]
        try:
            return template.render(known)
        except TemplateRenderError as error:
            absent = sorted(used_variables(self._source(role)) - set(known))
            if not absent:
                raise ConfigurationError(str(error)) from error
            meant = suggest(absent[0], known, f"columns are {list_names(known)}")
            raise ConfigurationError(
                f"{template.where}: question {question.id!r} has no column {absent[0]!r}; {meant}"
            ) from error

    def _source(self, role: str) -> str:
        return (self.variant.user if role == _USER else self.variant.system) or ""


def read_variants(given: Mapping[str, Any]) -> tuple[Variant, ...]:
    """Each by its name: a file, or a table of `user` and `system`; the question as it stands where nothing is given."""
    if not given:
        return (Variant(PLAIN_VARIANT),)
    return tuple(read_variant(name, value) for name, value in given.items())


def read_variant(name: str, value: Any) -> Variant:
    """Raises ConfigurationError for what is no variant."""
    try:
        name = check_run_name(name)
    except ConfigurationError as error:
        # Rows are called by it as runs are by theirs.
        raise ConfigurationError(str(error).replace("run name", "variant name", 1)) from error
    if isinstance(value, str | Path):
        return Variant(name, user=read_prompt(name, Path(value)), where=str(value))
    if not isinstance(value, Mapping) or not value or set(value) - {_USER, _SYSTEM}:
        raise ConfigurationError(f"variant {name}: a file, or a table with `user`, `system` or both")
    for role, text in value.items():
        if not isinstance(text, str):
            raise ConfigurationError(f"variant {name}: `{role}` is a text")
    if _USER in value and not value[_USER].strip():
        raise ConfigurationError(f"variant {name}: `{_USER}` is empty; leave it out to ask the question as it stands")
    return Variant(name, value.get(_USER), value.get(_SYSTEM), where=f"variant {name}")


def read_prompt(name: str, path: Path) -> str:
    """The template of a variant; one without a word would ask nothing."""
    try:
        text = decode_text(read_bounded(path))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"variant {name}: {path}: not valid UTF-8; save it as UTF-8") from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        # A path with such braces is a prompt that was meant to stand there itself.
        hint = f'; a prompt that stands in a job file is {{ {_USER} = "…" }}' if "{{" in str(path) else ""
        raise ConfigurationError(f"variant {name}: {path}: cannot be read ({why}){hint}") from error
    if not text.strip():
        raise ConfigurationError(
            f"variant {name}: {path} is empty; write the prompt into it, such as {{{{ question }}}}"
        )
    return text
