"""`mixseek init` and `mixseek doctor`: where to begin, and what is in the way."""

import os
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.errors import ConfigurationError
from mixseek.text.phrases import listed

DEFAULT_FILE = "job.toml"


def init(
    path: Annotated[
        Path, Argument(metavar="[PATH]", help="The job file to write, or a directory for it. Default: job.toml.")
    ] = Path(DEFAULT_FILE),
    answers: Annotated[
        bool, Option("--answers", help="Begin with questions: models answer them first, under two prompts.")
    ] = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """Write a job file to begin with, and a few samples that it judges.

    It asks nothing and overwrites nothing. The file works as it is, offline, and shows in comments how to name a
    model, gates and labels.

    \b
    Examples:
      mixseek init
      mixseek init --answers
      mixseek init evals/nightly.toml
      mixseek run job.toml
    """
    path = path / DEFAULT_FILE if path.is_dir() else path
    if path.suffix != ".toml":
        raise ConfigurationError(f"{path}: a job is a .toml file; name it so, e.g. {path.name or 'job'}.toml")
    starter, words = ("answers.toml", ("questions", "recorded")) if answers else ("job.toml", ("samples",))
    beside = {word: path.with_name(f"{path.stem}-{word}.jsonl") for word in words}
    for target in (path, *beside.values()):
        if os.path.lexists(target):
            raise ConfigurationError(f"{target}: is there already; choose another name, or remove it first")
    text = read_starter(starter)
    names = {word.upper(): file.name for word, file in beside.items()} | {"REPORT": f"{path.stem}-report.html"}
    for word, name in names.items():
        # As a whole text of the file, or behind `replay:`.
        text = text.replace(f'{word}"', f'{escaped(name)}"')
    # The samples first: a job file without its data would fail.
    for word, file in beside.items():
        write_new(file, read_starter(f"{word}.jsonl"))
    write_new(path, text)
    command = f"mixseek run {quote(str(path))}"
    data = str(next(iter(beside.values())))
    document = with_schema(DocumentName.INIT, {"file": str(path), "samples": data, "next": command})
    if as_json:
        return print_answer(document, "", as_json=True)
    notify_plainly(f"{path} written, and {listed([str(file) for file in beside.values()])} beside it; now: {command}")
    return ExitCode.OK


def read_starter(name: str) -> str:
    from importlib import resources

    return resources.files("mixseek.cli").joinpath("starter", name).read_text(encoding="utf-8")


def escaped(name: str) -> str:
    """Inside a TOML text."""
    return name.replace("\\", "\\\\").replace('"', '\\"')


def write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written ({error.strerror or error})") from error


def doctor(
    workspace: WorkspaceOption = None,
    offline: Annotated[bool, Option("--offline", help="Do not ask the judges of mixseek.toml.")] = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """Say what is installed, which keys are set, who answers, and what is wrong.

    Each judge of mixseek.toml gets one small question, with ten seconds to answer. Journals are read and compared with
    what was written; nothing is repaired or changed. Of keys only the names are told. Exit 1 when something is wrong;
    an extra that is not installed, or a key that no judge needs, is not.

    \b
    Examples:
      mixseek doctor
      mixseek doctor --offline --workspace ws
      mixseek doctor --json
    """
    from mixseek.setup.doctor import examine
    from mixseek.setup.findings import findings_document, findings_sections

    findings = examine(workspace, os.environ, offline=offline)
    document = findings_document(findings)
    print_answer(document, lambda: findings_sections(findings), as_json=as_json)
    return ExitCode.OK if document["ok"] else ExitCode.GATE_NOT_MET
