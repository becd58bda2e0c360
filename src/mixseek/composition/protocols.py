"""Protocols and judges by name, and the files that hold a protocol."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import orjson

from mixseek.archive.write import encode_document
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.ports import Judge, JudgeProtocol, LiveJudge
from mixseek.errors import ConfigurationError, reason_of
from mixseek.judges.endpoint.address import PROVIDERS, split_spec
from mixseek.judges.function import FunctionJudge
from mixseek.judges.specs import is_live, make_judge, make_live_judge
from mixseek.protocols.declaration import Complaint, PromptSource, ProtocolDeclaration, read_template
from mixseek.protocols.registry import declaration_path, describe, load_protocol, make_protocol, protocol_names
from mixseek.protocols.rubric import TASK_TYPES, lint_task_rubric, read_task_rubric
from mixseek.settings.models import JudgeSettings
from mixseek.storage.durable import replacing
from mixseek.storage.journal.records import Manifest
from mixseek.storage.workspace import RunDirectory

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from mixseek.judges.replay import FileReplayJudge

AnyJudge = Judge | LiveJudge
# As a request names it: what may stand after --judge, or a judge itself.
NamedJudge = str | Judge | LiveJudge


def get_panel(
    judges: Sequence[NamedJudge],
    configured: Mapping[str, JudgeSettings],
    environment: Mapping[str, str],
    timeout_seconds: float | None = None,
    *,
    takes_bundles: bool = False,
    longest_line: int = LONGEST_LINE_BYTES,
) -> tuple[AnyJudge, ...]:
    """All kinds of judges, in order; nothing is sent yet."""
    check_specs([judge if isinstance(judge, str) else judge.name for judge in judges])

    def get(judge: NamedJudge) -> AnyJudge:
        if isinstance(judge, FunctionJudge):
            return judge if timeout_seconds is None else replace(judge, timeout_seconds=timeout_seconds)
        if not isinstance(judge, str):
            return judge
        if is_live(judge, configured):
            return make_live_judge(judge, with_timeout(judge, configured, timeout_seconds), environment)
        return make_judge(judge, configured, takes_bundles=takes_bundles, longest_line=longest_line)

    return tuple(map(get, judges))


def check_specs(specs: Sequence[str]) -> None:
    """At least one judge, and none twice."""
    if not specs:
        raise ConfigurationError("no judge; name one with --judge, e.g. --judge rules")
    # Two functions may have one name without anybody having given one of them twice.
    repeated = {spec for spec in specs if specs.count(spec) > 1}
    if repeated:
        raise ConfigurationError(
            f"--judge {sorted(repeated)[0]} is given twice; name each judge once (--repeats asks one several times; "
            "in Python, function_judge(f, name=…) gives a function a name)"
        )


def with_timeout(
    spec: str, configured: Mapping[str, JudgeSettings], timeout_seconds: float | None
) -> Mapping[str, JudgeSettings]:
    """The settings with the timeout of the command line, which wins over the file."""
    if timeout_seconds is None:
        return configured
    settings = configured.get(spec)
    if settings is None:
        if spec.partition(":")[0] not in PROVIDERS or not split_spec(spec)[1]:
            return configured
        provider, model, base_url = split_spec(spec)
        settings = JudgeSettings(model=model, provider=provider, base_url=base_url)
    return {**configured, spec: settings.model_copy(update={"timeout_seconds": timeout_seconds})}


def is_remote(judge: AnyJudge) -> "TypeIs[LiveJudge]":
    """Whether the judge is behind an endpoint or a model; rules and recorded replies answer at once."""
    return hasattr(judge, "fingerprint")


def replays_file(judge: AnyJudge) -> "TypeGuard[FileReplayJudge]":
    """Whether its replies stand in a file of their own; told without loading what reads such files."""
    return hasattr(judge, "matched_to")


def replays_rows(judge: AnyJudge) -> bool:
    """Whether its replies stand in the rows of the dataset."""
    return judge.name == "replay"


def protocol_document(name: str, language: str | None = None) -> dict[str, Any]:
    """Everything that is asked and demanded, as data."""
    return document_protocol(load_protocol(name, language))


def document_protocol(protocol: JudgeProtocol) -> dict[str, Any]:
    """The same of a protocol at hand; `documentation` is None for one without dimensions."""
    # Here and not above: judging with rules does not pay for loading what scores.
    from mixseek.protocols.scored.protocol import ScoredProtocol

    page = protocol.documentation() if isinstance(protocol, ScoredProtocol) else None
    return {**describe(protocol), "documentation": page}


def rubric_of_run(run: RunDirectory, manifest: Manifest) -> tuple[tuple[str, str], ...]:
    """What is scored and what judges are told, by title; empty where another version of mixseek asked it."""
    try:
        document = document_protocol(protocol_of_run(run, manifest))
    except ConfigurationError:
        return ()
    told = [message["content"] for message in document["messages"] if message["role"] == "system"]
    parts = (("Rubric", document["documentation"]), ("What judges are told", "\n\n".join(told)))
    return tuple((title, text.strip()) for title, text in parts if text)


def describe_protocol(name: str, language: str | None = None) -> str:
    """The same for a person: what is scored and checked, then the prompt as a judge sees it, with an example."""
    document = protocol_document(name, language)
    lines = [
        f"protocol    {document['name']} {document['version']} ({document['language']})",
        f"hash        {document['hash']}",
    ]
    if document["documentation"] is not None:
        # Its first two lines are the name and the hash again.
        lines += ["", document["documentation"].split("\n", 3)[3].strip()]
    for message in document["messages"]:
        lines += ["", f"--- {message['role']} message ---", message["content"].rstrip()]
    for title, key in (("parameters", "parameters"), ("reply schema", "reply_schema")):
        lines += ["", f"--- {title} ---", json.dumps(document[key], ensure_ascii=False, indent=2)]
    return "\n".join(lines)


# Writing a protocol of one's own: a file to begin with, and what is wrong with it.

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
    complaints += [one for where, text in texts.items() for one in lint_task_rubric(text, where, types)]
    complaints += _same_names(texts)
    return Lint((*(name for name, _ in protocols), *texts), tuple(complaints))


def _is_rubrics(name: str) -> bool:
    return Path(name).suffix.lower() in _RUBRIC_ENDINGS or (name not in protocol_names() and Path(name).is_dir())


def _rubric_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.rglob("*") if one.suffix.lower() in _RUBRIC_ENDINGS and one.is_file())
    found = [one for one in found if one.stem.lower() != _ABOUT]
    if not found:
        raise ConfigurationError(f"{path}: no task rubric in it; one is a Markdown file, TASK.md")
    return found


def _same_names(texts: dict[str, str]) -> Iterator[Complaint]:
    """A sample finds its rubric by task_name, or by the file's name."""
    seen: dict[str, str] = {}
    for where, text in texts.items():
        name = read_task_rubric(text).task_name or Path(where).stem
        if name in seen:
            what = f"the task name {name!r} is that of {seen[name]} as well"
            yield Complaint(where, None, what, "give each task rubric a name of its own")
        seen.setdefault(name, where)


# A protocol as one JSON document, so that a run and its archive carry what they were judged by.


def protocol_record(protocol: JudgeProtocol) -> dict[str, Any]:
    """Everything that its hash covers; the order of dimensions and verdicts is part of it."""
    declaration: ProtocolDeclaration | None = getattr(protocol, "declaration", None)
    if declaration is None:
        raise ConfigurationError(f"protocol {protocol.name!r} is not declared in a file, so it cannot be kept")
    return {
        "name": protocol.name,
        "version": protocol.version,
        "kind": declaration.kind,
        "language": protocol.language,
        "hash": protocol.hash,
        "parameters": protocol.parameters,
        "templates": {role: source.text for role, source in declaration.templates.items()},
    }


def restore_protocol(record: Mapping[str, Any], where: str) -> JudgeProtocol:
    """The protocol again; raises ConfigurationError for a record that holds none."""
    try:
        templates = {role: PromptSource(text, f"{where}: {role}") for role, text in record["templates"].items()}
        kept: dict[str, Any] = {name: record[name] for name in ("name", "version", "kind", "language", "parameters")}
        declaration = ProtocolDeclaration(**kept, templates=templates, where=where)
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{where}: not a protocol ({error})") from error
    return make_protocol(declaration)


def read_protocol_record(path: Path) -> Mapping[str, Any]:
    """Raises ConfigurationError where there is none."""
    try:
        record = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {reason_of(error)}") from error
    except orjson.JSONDecodeError as error:
        raise ConfigurationError(f"{path}: not JSON ({error})") from error
    if not isinstance(record, dict):
        raise ConfigurationError(f"{path}: not a protocol")
    return record


def keep_protocol(run: RunDirectory, protocol: JudgeProtocol) -> None:
    """Beside the manifest: a user's file may be edited or gone by the time somebody checks the run."""
    if getattr(protocol, "declaration", None) is None:
        return
    with replacing(run.protocol) as stream:
        stream.write(encode_document(protocol_record(protocol)))


def protocol_of_run(run: RunDirectory, manifest: Manifest) -> JudgeProtocol:
    """As kept with the run; for runs that kept none, the built-in of that name if it still is the same."""
    entry = manifest.protocol
    if run.protocol.is_file():
        protocol = restore_protocol(read_protocol_record(run.protocol), str(run.protocol))
    else:
        protocol = load_protocol(entry.name, entry.language, entry.parameters)
    if protocol.hash != entry.hash:
        raise ConfigurationError(
            f"run {run.name}: was judged by another version of the {entry.name} protocol than this mixseek has; "
            "judge the dataset anew to archive it"
        )
    return protocol
