"""`mixseek serve-mock`: a judge on loopback, to try everything without a key."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.options import parse_share

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")]
Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 takes a free one.")]
Latency = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="Think time of each reply.")]
Jitter = Annotated[float, typer.Option(metavar="SECONDS", min=0.0, help="Up to so much more.")]
FaultRate = Annotated[
    float, typer.Option(metavar="SHARE", parser=parse_share, help="Share of replies that go wrong, e.g. 0.2 or 20%.")
]
Faults = Annotated[
    list[str] | None, typer.Option("--fault", metavar="KIND", help="Only these kinds; repeat for more. Default: all.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed fails in the same way.")]
Log = Annotated[Path | None, typer.Option(metavar="FILE", help="Write every request to this JSONL file.")]


def serve_mock(
    host: Host = "127.0.0.1",
    port: Port = 8777,
    latency: Latency = 0.2,
    jitter: Jitter = 0.0,
    fault_rate: FaultRate = 0.0,
    faults: Faults = None,
    seed: Seed = 0,
    log: Log = None,
) -> ExitCode:
    """Serve a mock judge that speaks OpenAI and Anthropic.

    For trying the pipeline and for tests: verdicts are made up, deterministically by seed.

    \b
    Examples:
      mixseek serve-mock --port 8777
      mixseek judge answers.jsonl --judge openai:mock@http://127.0.0.1:8777/v1
      mixseek serve-mock --fault-rate 20% --fault rate-limit --fault drop
    """
    from mixseek.composition.mock import serve

    serve(host, port, latency=latency, jitter=jitter, fault_rate=fault_rate, faults=faults, seed=seed, log=log)
    return ExitCode.OK
