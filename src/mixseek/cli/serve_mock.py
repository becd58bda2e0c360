"""`mixseek serve-mock`: a judge on loopback, to try everything without a key."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import parse_share

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")]
Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 takes a free one.")]
Latency = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="Think time of each reply.")]
Jitter = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="Up to so much more.")]
FaultRate = Annotated[
    float, typer.Option(metavar="SHARE", parser=parse_share, help="Share of replies that go wrong, e.g. 0.2 or 20%.")
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="KIND",
        help="Only these kinds; repeat for more: rate-limit, server-error, drop, slow-drip, prose, fenced, truncated, "
        "wrong-schema, refusal, inconsistent. Default: all.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed fails in the same way.")]
RetryAfter = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="What a 429 says in Retry-After.")]
Drip = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="How long a slow drip takes.")]
CorrectShare = Annotated[
    float, typer.Option(metavar="SHARE", parser=parse_share, help="Share of verdicts that say `correct`.")
]
RefuseKeys = Annotated[bool, typer.Option("--refuse-keys", help="Answer 401 to everything, and repeat the key.")]
RefuseSchemas = Annotated[bool, typer.Option("--refuse-schemas", help="Answer 400 where a JSON schema is asked for.")]
Context = Annotated[
    int | None, typer.Option("--context", metavar="CHARACTERS", min=1, help="Answer 400 to longer prompts.")
]
Capacity = Annotated[int | None, typer.Option(metavar="N", min=1, help="Answer 429 to more than so many at once.")]
DownAfter = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Be gone after so many requests, once: connections die.")
]
DownFor = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="How long the outage lasts.")]
Log = Annotated[Path | None, typer.Option(metavar="FILE", help="Write every request to this JSONL file.")]


def serve_mock(
    host: Host = "127.0.0.1",
    port: Port = 8777,
    latency: Latency = 0.2,
    jitter: Jitter = 0.0,
    fault_rate: FaultRate = 0.0,
    faults: Faults = None,
    seed: Seed = 0,
    retry_after: RetryAfter = 1.0,
    drip: Drip = 2.0,
    correct_share: CorrectShare = 0.5,
    refuse_keys: RefuseKeys = False,
    refuse_schemas: RefuseSchemas = False,
    context: Context = None,
    capacity: Capacity = None,
    down_after: DownAfter = None,
    down_for: DownFor = 5.0,
    log: Log = None,
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
    """
    from mixseek.composition.judges import serve

    pace = {"latency_seconds": latency, "jitter_seconds": jitter, "drip_seconds": drip}
    failing = {"fault_rate": fault_rate, "seed": seed, "retry_after_seconds": retry_after, "capacity": capacity}
    refusing = {"refuses_keys": refuse_keys, "refuses_schemas": refuse_schemas, "context_characters": context}
    outage = {"down_after_requests": down_after, "down_seconds": down_for}
    told = {"correct_share": correct_share, "log": log}
    serve(host, port, faults or (), **pace, **failing, **refusing, **outage, **told)
    return ExitCode.OK
