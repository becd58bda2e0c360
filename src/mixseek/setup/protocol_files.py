"""Writing a protocol of one's own: a file to begin with, and what is wrong with it."""

import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import Complaint, read_template
from mixseek.protocols.registry import declaration_path, protocol_names
from mixseek.protocols.rubric import TASK_TYPES, lint_task_rubric, read_task_rubric

_RUBRIC_ENDINGS = (".md", ".markdown")
# Says what a directory holds, and grades nothing.
_ABOUT = "readme"


@dataclass(frozen=True, slots=True)
class Lint:
    """What was looked at, by the name it was given, and what is wrong; hints are no problems."""

    files: tuple[str, ...]
    complaints: tuple[Complaint, ...]

    @property
    def problems(self) -> tuple[Complaint, ...]:
        return tuple(complaint for complaint in self.complaints if not complaint.is_hint)


def write_starter(path: Path) -> str:
    """A declaration that lints clean and judges as it is; its name, taken from the file's. Never overwrites."""
    if path.suffix != ".toml":
        raise ConfigurationError(f"{path}: a protocol is a .toml file; name it so, e.g. {path.stem or 'my'}.toml")
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")
    if not name[:1].isalpha() or name in protocol_names():
        name = f"my-{name}".rstrip("-")
    starter = resources.files("mixseek.protocols").joinpath("starters/scored.toml").read_text(encoding="utf-8")
    text = re.sub(r"\bNAME(?=[\"._])", name, starter).replace(" FILE", f" {path.name}")
    try:
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise ConfigurationError(f"{path}: is there already; choose another name, or remove it first") from error
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written ({error.strerror})") from error
    return name


def lint_files(targets: Sequence[str]) -> Lint:
    """Protocols by name or file, task rubrics by file or directory: held against those protocols, or `rubric`."""
    # Only who asks for it loads it: judging must not wait for linting.
    from mixseek.protocols.lint import lint_protocol, task_types_of

    protocols = [(name, declaration_path(name)) for name in targets if not _is_rubrics(name)]
    rubrics = [path for name in targets if _is_rubrics(name) for path in _rubric_files(Path(name))]
    complaints = [complaint for name, path in protocols for complaint in lint_protocol(path, name)]
    types = tuple(dict.fromkeys(kind for _, path in protocols for kind in task_types_of(path))) or TASK_TYPES
    texts = {str(path): read_template(path).text for path in rubrics}
    complaints += [complaint for where, text in texts.items() for complaint in lint_task_rubric(text, where, types)]
    complaints += _same_names(texts)
    return Lint((*(name for name, _ in protocols), *texts), tuple(complaints))


def _is_rubrics(name: str) -> bool:
    return Path(name).suffix.lower() in _RUBRIC_ENDINGS or (name not in protocol_names() and Path(name).is_dir())


def _rubric_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    paths = sorted(
        candidate
        for candidate in path.rglob("*")
        if candidate.suffix.lower() in _RUBRIC_ENDINGS and candidate.is_file()
    )
    paths = [candidate for candidate in paths if candidate.stem.lower() != _ABOUT]
    if not paths:
        raise ConfigurationError(f"{path}: no task rubric in it; one is a Markdown file, TASK.md")
    return paths


def _same_names(texts: dict[str, str]) -> Iterator[Complaint]:
    """A sample finds its rubric by task_name, or by the file's name."""
    seen: dict[str, str] = {}
    for where, text in texts.items():
        name = read_task_rubric(text).task_name or Path(where).stem
        if name in seen:
            what = f"the task name {name!r} is that of {seen[name]} as well"
            yield Complaint(where, None, what, "give each task rubric a name of its own")
        seen.setdefault(name, where)
