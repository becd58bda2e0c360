"""Options of every command whose requests can be left in batches."""

from pathlib import Path
from typing import Annotated, Literal, TypedDict

from mixseek.settings.declared import Declared, Group


class BatchingOptions(TypedDict, total=False):
    """The options of `judge`, `answer` and `audit` about batches."""

    batch: Annotated[
        bool | None,
        Declared(
            group=Group.CALLS,
            help="Leave all requests in batches of their providers: half the price, within a day. Run the same command "
            "again to collect. `batch = true` at a judge does it for that one.",
        ),
    ]
    wait: Annotated[
        bool | None,
        Declared(
            group=Group.CALLS,
            help="With --batch: wait until everything is here. Without it the command ends with exit code 4 while "
            "batches are under way.",
        ),
    ]
    poll: Annotated[
        float | None,
        Declared(
            group=Group.CALLS,
            metavar="SECONDS",
            least=0.05,
            default=30,
            help="With --wait: look at batches so often at first, up to ten times as rarely later.",
        ),
    ]
    batch_rest: Annotated[
        Literal["batch", "live"] | None,
        Declared(
            group=Group.CALLS,
            default="batch",
            help="What becomes of requests that a batch brought no answer for: another batch, or asked at once.",
        ),
    ]
    batch_files: Annotated[
        str | Path | None,
        Declared(
            group=Group.CALLS,
            metavar="DIR",
            typed_as=Path,
            help="Write batches as files there instead of submitting them, for closed networks and vLLM's run-batch: "
            "NAME.jsonl is written, NAME.output.jsonl is read by the same command.",
        ),
    ]
