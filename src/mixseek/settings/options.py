"""The table of options: each is declared once, for every door that has it.

`mixseek judge`, `mixseek.judge`, a job file and the reference are made from this, and so are `audit`, `compete` and
`evaluate`. The classes say which command has which options; a name that ends in `Command` adds what only a terminal
needs. Where a value goes is said with it (`live`, `request`), so a new option is a line here, a field in
`runs/requests/request.py`, and the code that obeys it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from mixseek.domain.counting import CutOffChoice, UndecidedChoice
from mixseek.domain.panels import PanelRule
from mixseek.settings.batch_options import BatchingOptions
from mixseek.settings.declared import MAPPING, PARAMETERS, POINTS, SHARE, VARIANT, Declared, Group

if TYPE_CHECKING:
    # In quotes below: importing them would cost every `--help` a tenth of a second.
    from mixseek.domain.ports import JudgeLike, JudgeProtocol
    from mixseek.settings.models import Language
    from mixseek.settings.race import EvaluationFile


class CallOptions(TypedDict, total=False):
    """The options of every command that asks judges."""

    workspace: Annotated[
        str | Path | None,
        Declared(
            group=Group.RUN,
            flags=("--workspace", "-w"),
            metavar="DIR",
            typed_as=Path,
            help="Where runs are kept. Default: $MIXSEEK_WORKSPACE, then mixseek.toml, then .mixseek.",
            in_python="Where the run is kept, resumed and cached. Default: in memory, which leaves nothing behind; "
            "for `compete` as on the command line, .mixseek or what is set.",
        ),
    ]
    concurrency: Annotated[
        int | None,
        Declared(
            group=Group.CALLS,
            metavar="N",
            least=1,
            most=4096,
            default=32,
            live="concurrency",
            help="Calls at once to an endpoint, at most; fewer while it is busy.",
        ),
    ]
    max_calls: Annotated[
        int | None,
        Declared(
            group=Group.CALLS,
            metavar="N",
            least=1,
            live="max_calls",
            help="Stop after so many requests of this command; resumable.",
        ),
    ]
    max_cost: Annotated[
        float | None,
        Declared(
            group=Group.CALLS,
            metavar="USD",
            least=0.0,
            live="max_cost_usd",
            help="Stop before this command has spent more; resumable.",
            in_python="Stop before this call has spent more US dollars; resumable.",
        ),
    ]


class WaitOptions(TypedDict, total=False):
    """The options of every command that waits for replies, or has them already."""

    cache: Annotated[
        bool | None,
        Declared(
            group=Group.CALLS,
            flags=("--no-cache",),
            is_switched_off=True,
            live="use_cache",
            help="Ask again even where the workspace has the reply.",
            in_python="False: ask again even where the workspace has the reply.",
        ),
    ]
    patience: Annotated[
        float | None,
        Declared(
            group=Group.CALLS,
            metavar="SECONDS",
            least=1.0,
            live="patience_seconds",
            help="Wait so long for an endpoint that is down. Default: 600; 10 for one that has not answered yet.",
            in_python="Wait so many seconds for an endpoint that is down. Default: 600; 10 for one that has not "
            "answered yet.",
        ),
    ]


class ReplyOptions(WaitOptions, total=False):
    """The options of `judge`, `compete` and `evaluate`: what becomes of replies that are there, or do not come."""

    retry_invalid: Annotated[
        bool | None,
        Declared(
            group=Group.CALLS,
            live="retry_invalid",
            help="Ask again where all replies that are there cannot be used; none is lost.",
        ),
    ]


class SampleOptions(TypedDict, total=False):
    """The options of `judge` and `audit`: samples of a dataset, and what is asked about them."""

    protocol: Annotated[
        "str | Path | JudgeProtocol | None",
        Declared(
            group=Group.ASKED,
            metavar="NAME|FILE",
            typed_as=str,
            help="What is asked: a built-in, or a .toml file. Default: semantic.",
            in_python="What is asked: a built-in, a .toml file, or what `load_protocol` gave. Default: semantic.",
        ),
    ]
    run: Annotated[
        str | None,
        Declared(
            group=Group.RUN,
            metavar="NAME",
            request="run",
            help="Name of the run. Default: the same for the same request.",
        ),
    ]
    mapping: Annotated[
        Mapping[str, str] | None,
        Declared(
            group=Group.DATA,
            flags=("--map",),
            metavar=MAPPING,
            typed_as=list[str],
            request="mapping",
            help="Where a field stands in DATA, e.g. response=output.",
            in_python='Where a field stands in the data: `{"response": "output"}`.',
        ),
    ]
    language: Annotated[
        str | None,
        Declared(group=Group.ASKED, metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own."),
    ]
    rubric: Annotated[
        str | Path | None,
        Declared(
            group=Group.ASKED,
            metavar="DIR|FILE",
            typed_as=Path,
            request="rubric",
            help="Task rubrics in Markdown: one for all samples, or DIR/TASK_NAME.md each.",
            in_python="Task rubrics in Markdown: one for all samples, or a directory with one for each task.",
        ),
    ]
    parameters: Annotated[
        Mapping[str, Any] | None,
        Declared(
            group=Group.ASKED,
            flags=("--parameter",),
            metavar=PARAMETERS,
            typed_as=list[str],
            request="parameters",
            help="Replace a parameter of the protocol, e.g. evidence.policy=present.",
            in_python='Replace parameters of the protocol: `{"evidence": {"policy": "present"}}`.',
        ),
    ]
    pairs: Annotated[
        str | int | None,
        Declared(
            group=Group.DATA,
            metavar="all|baseline:MODEL|N",
            typed_as=str,
            request="pairs",
            help="Make pairs of single outputs: of each question all, baseline:MODEL, or so many (for --protocol "
            "pairwise).",
            in_python='Make pairs of single outputs: "all", "baseline:MODEL", or how many of each question.',
        ),
    ]
    seed: Annotated[
        int | None,
        Declared(
            group=Group.DATA,
            metavar="N",
            default=0,
            request="seed",
            help="Of whatever is drawn by chance: the same seed, the same draw.",
        ),
    ]
    progress: Annotated[
        bool | None, Declared(group=Group.OUTPUT, is_typed=False, help="False: show nothing while judging.")
    ]


class AskingOptions(TypedDict, total=False):
    """The options of `judge` and `answer`: how models are asked, and where."""

    on: Annotated[
        Literal["ray"] | None,
        Declared(
            group=Group.RUN,
            metavar="ray",
            typed_as=str,
            help="Ask from a Ray cluster (extra `ray`) instead of this machine.",
        ),
    ]
    address: Annotated[
        str | None,
        Declared(
            group=Group.RUN,
            metavar="auto|HOST:PORT",
            help="With --on ray: the cluster. Default: RAY_ADDRESS, else one that is started here.",
        ),
    ]
    shards: Annotated[
        int | None,
        Declared(
            group=Group.RUN,
            metavar="N",
            least=1,
            help="With --on ray: parts of DATA, each asked about by one worker.",
            in_python="Parts of the data, each asked about by one worker of the cluster.",
        ),
    ]
    limit: Annotated[
        int | None,
        Declared(group=Group.DATA, metavar="N", least=1, request="limit", help="Only the first N of DATA."),
    ]
    timeout: Annotated[
        float | None,
        Declared(
            group=Group.CALLS,
            metavar="SECONDS",
            least=0.1,
            live="timeout_seconds",
            help="For one whole call. Default: 120, or the model's own.",
            in_python="Seconds for one whole call. Default: 120, or the model's own; a function has none.",
        ),
    ]
    retry_refused: Annotated[
        bool | None,
        Declared(
            group=Group.CALLS,
            live="retry_refused",
            help="Ask again what was refused when this run was asked before.",
        ),
    ]
    keep_going: Annotated[
        bool | None,
        Declared(
            group=Group.CALLS,
            live="keep_going",
            help="Do not stop where a model refuses everything, or gives nothing of use in its first 50 replies.",
        ),
    ]


class JudgeOptions(CallOptions, BatchingOptions, ReplyOptions, SampleOptions, AskingOptions, total=False):
    """Every option of `mixseek judge`; what is left out, or None, is as on the command line."""

    judges: Annotated[
        "JudgeLike | Sequence[JudgeLike] | None",
        Declared(
            group=Group.JUDGES,
            flags=("--judge",),
            metavar="SPEC",
            typed_as=list[str],
            help="rules, checks, provider:model, provider:model@base_url, a name in mixseek.toml, replay:FILE, replay, "
            "log:SCORER or log; repeat for more. Default: rules.",
            in_python="One or several: specs, functions of your own, judge objects. Default: rules.",
        ),
    ]
    cascade: Annotated[
        bool | None,
        Declared(
            group=Group.JUDGES,
            flags=("--cascade/--no-cascade",),
            help="Ask the next judge only where no judge before it gave a valid judgment / each judges all (default).",
            in_python="Ask the next judge only where no judge before it gave a valid judgment.",
        ),
    ]
    cascade_file: Annotated[
        "str | Path | None",
        Declared(
            group=Group.JUDGES,
            metavar="FILE",
            typed_as=Path,
            help="Follow what `mixseek cascade plan` wrote: who is asked after whom, how sure each must be, and what "
            "is left for people. `--cascade FILE.toml` is the same.",
            in_python="Follow what `mixseek cascade plan` wrote: who is asked after whom, how sure each must be, and "
            "what is left for people.",
        ),
    ]
    audit_share: Annotated[
        float | None,
        Declared(
            group=Group.JUDGES,
            metavar="SHARE",
            help="With a cascade file: so many of what it decides, drawn at random, go to people as well, e.g. 2%; "
            "they correct the headline, and drift is raised by them.",
        ),
    ]
    panel: Annotated[
        PanelRule | Literal["majority", "unanimous", "median", "mean"] | None,
        Declared(
            group=Group.JUDGES,
            metavar="RULE",
            typed_as=PanelRule,
            help="How several judges become one verdict: majority, unanimous, median or mean. Default: majority where "
            "answers are right or wrong, else median.",
        ),
    ]
    checks: Annotated[
        "str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None",
        Declared(
            group=Group.ASKED,
            flags=("--check",),
            metavar="CHECK",
            typed_as=list[str],
            help="Check every sample without a judge, e.g. uses:TOOL, not-uses:TOOL, order:A,B, 'count:TOOL<=2', "
            "answer-contains:TEXT, no-unhandled-errors, 'steps<=12'; repeat for more (see docs/checks.md).",
            in_python='Checks that need no judge: lines such as `"uses:search"`, tables, or a dict of both by name.',
        ),
    ]
    repeats: Annotated[
        int | None,
        Declared(
            group=Group.JUDGES,
            metavar="N",
            least=1,
            most=100,
            default=1,
            live="repeats",
            help="Independent replies of each model to each sample.",
        ),
    ]
    max_reasks: Annotated[
        int | None,
        Declared(
            group=Group.JUDGES,
            metavar="N",
            least=0,
            most=10,
            default=1,
            live="max_reasks",
            help="Ask again so often after an invalid reply.",
        ),
    ]
    fail_under: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when the mean score is lower, e.g. 0.8 or 80%.",
            in_python="Gate: the mean score, in 0..1, must not be lower.",
        ),
    ]
    max_invalid: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when more are invalid (of pairs, in either order) or missing.",
            in_python="Gate: no larger share may be invalid (of pairs, in either order) or missing.",
        ),
    ]
    max_undecided: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when more are undecided or split.",
            in_python="Gate: no larger share may be undecided or split.",
        ),
    ]
    max_cut_off: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when more responses were cut off by a limit, e.g. 2%.",
            in_python="Gate: no larger share of the responses may be cut off by a limit.",
        ),
    ]
    cut_off: Annotated[
        CutOffChoice | Literal["incorrect", "leave-out"] | None,
        Declared(
            group=Group.GATES,
            metavar="incorrect|leave-out",
            typed_as=str,
            help="What a response that was cut off is in a mean: as it was judged, and incorrect without a verdict; or "
            "left out. Default: incorrect.",
        ),
    ]
    undecided: Annotated[
        UndecidedChoice | Literal["leave-out", "incorrect"] | None,
        Declared(
            group=Group.GATES,
            metavar="leave-out|incorrect",
            typed_as=str,
            help="What an undecided sample is in a mean: left out, or incorrect. Default: leave-out.",
        ),
    ]
    max_unverified: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when more of the valid ones call an answer correct that is not in the response.",
            in_python="Gate: no larger share of the valid ones may call an answer correct that is not in the response.",
        ),
    ]
    max_failed_checks: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when a check failed in more of the samples that it applies to, e.g. 5%.",
            in_python="Gate: no check may fail in a larger share of the samples that it applies to.",
        ),
    ]
    require_card: Annotated[
        str | Path | Sequence[str | Path] | None,
        Declared(
            group=Group.GATES,
            metavar="CARD",
            typed_as=list[Path],
            help="Exit 1, and ask nothing, unless this card of `mixseek audit` is of this judge and protocol and "
            "nothing on it failed; repeat for more judges.",
            in_python="Cards of `mixseek.audit` that must be of these judges and this protocol, with nothing failed; "
            "else GateError.",
        ),
    ]
    card_max_age: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar="DAYS",
            least=0.0,
            help="Exit 1 when the card is older.",
            in_python="Days; an older card raises GateError.",
        ),
    ]
    baseline: Annotated[
        str | None,
        Declared(
            group=Group.GATES,
            metavar="RUN",
            help="Say how far this run differs from an earlier one, sample by sample (see `mixseek compare`).",
            in_python="A run of the same workspace that this one is compared with.",
        ),
    ]
    max_drop: Annotated[
        float | None,
        Declared(
            group=Group.GATES,
            metavar=SHARE,
            help="Exit 1 when the mean score is lower than the baseline's by more, e.g. 0.02 or 2%.",
            in_python="Gate: the mean score must not be lower than the baseline's by more.",
        ),
    ]
    gate_on: Annotated[
        Literal["point", "lower"] | None,
        Declared(
            group=Group.GATES,
            metavar="point|lower",
            typed_as=str,
            help="Hold the difference itself against --max-drop, or the lower end of its interval. Default: point.",
        ),
    ]
    workers: Annotated[
        int | None,
        Declared(
            group=Group.RUN,
            metavar="N",
            least=0,
            most=256,
            help="Processes for `rules`. Default: all cores if it pays.",
        ),
    ]
    show_reasoning: Annotated[
        bool | None,
        Declared(
            group=Group.ASKED,
            request="shows_reasoning",
            help="Show judges the `reasoning` that stands beside a response, before it.",
        ),
    ]
    bundles: Annotated[
        bool | None,
        Declared(
            group=Group.DATA,
            request="bundles",
            help="A recorded reply may be about many samples: take it apart by the names in it.",
        ),
    ]
    plan: Annotated[
        str | Path | None,
        Declared(
            group=Group.DATA,
            metavar="FILE",
            typed_as=str,
            request="planned",
            help="What was to be judged, CSV or JSONL: question_id, prompt_variant, target_model[, output_id]. Holes "
            "are flagged INCOMPLETE_COVERAGE.",
        ),
    ]
    budget: Annotated[
        int | None,
        Declared(
            group=Group.DATA,
            metavar="N",
            least=1,
            help="Judge so many pairs, chosen in rounds where they tell most about who is stronger.",
        ),
    ]
    top: Annotated[
        int | None,
        Declared(
            group=Group.DATA,
            metavar="K",
            least=0,
            default=3,
            help="--budget is to tell who belongs to the first K; 0: the whole order.",
        ),
    ]
    allow_outside_files: Annotated[
        bool | None,
        Declared(
            group=Group.DATA,
            request="allows_outside_files",
            help="Let `response_path` and `rubric_path` lead out of the directory of DATA.",
        ),
    ]


class AnswerOptions(CallOptions, BatchingOptions, WaitOptions, AskingOptions, total=False):
    """Every option of `mixseek answer`; what is left out, or None, is as on the command line."""

    targets: Annotated[
        "JudgeLike | Sequence[JudgeLike] | None",
        Declared(
            group=Group.TARGETS,
            flags=("--target",),
            metavar="SPEC",
            typed_as=list[str],
            help="provider:model, provider:model@base_url, a name in mixseek.toml, gguf:PATH or replay:FILE; repeat "
            "for more.",
            in_python="One or several: specs, functions of your own, objects that answer.",
        ),
    ]
    variants: Annotated[
        "Mapping[str, str | Path | Mapping[str, str]] | None",
        Declared(
            group=Group.TARGETS,
            flags=("--variant",),
            metavar=VARIANT,
            typed_as=list[str],
            help="A prompt as a template, with the columns of DATA as variables; repeat for more. Default: the "
            "question as it stands.",
            in_python='Prompts as templates by name: files, or `{"system": …, "user": …}`. Default: the question as it '
            "stands.",
        ),
    ]
    repeats: Annotated[
        int | None,
        Declared(
            group=Group.TARGETS,
            metavar="N",
            least=1,
            most=100,
            default=1,
            live="repeats",
            help="Independent answers of each target to each question.",
        ),
    ]
    retry_cut_off: Annotated[
        bool | None,
        Declared(
            group=Group.TARGETS,
            live="retries_cut_off",
            help="Ask once more, with twice the limit, where a response was cut off; both are kept.",
        ),
    ]
    run: Annotated[
        str | None,
        Declared(
            group=Group.RUN,
            metavar="NAME",
            request="run",
            help="Name of these answers: `mixseek judge answers:NAME`. Default: the same for the same request.",
        ),
    ]
    mapping: Annotated[
        Mapping[str, str] | None,
        Declared(
            group=Group.DATA,
            flags=("--map",),
            metavar=MAPPING,
            typed_as=list[str],
            request="mapping",
            help="Where a field stands in DATA, e.g. question=text.",
            in_python='Where a field stands in the data: `{"question": "text"}`.',
        ),
    ]
    progress: Annotated[
        bool | None, Declared(group=Group.OUTPUT, is_typed=False, help="False: show nothing while asking.")
    ]


class AuditOptions(CallOptions, BatchingOptions, SampleOptions, total=False):
    """Every option of `mixseek audit`; what is left out, or None, is as on the command line."""

    n: Annotated[
        int | None, Declared(group=Group.DATA, metavar="N", least=1, default=100, help="Draw so many samples.")
    ]
    only: Annotated[
        str | Sequence[str] | None,
        Declared(
            group=Group.ASKED,
            metavar="AUDIT",
            typed_as=list[str],
            help="Only these audits; repeat for more: retest, order, padding, format, tone, name, own, injection, "
            "language, implant, lenient, drift, rescaled. Default: all that apply.",
            in_python="Only these audits: retest, order, padding, format, tone, name, own, injection, language, "
            "implant, lenient, drift, rescaled. Default: all that apply.",
        ),
    ]
    since: Annotated[
        str | Path | None,
        Declared(
            group=Group.ASKED,
            metavar="CARD",
            typed_as=Path,
            help="An earlier card of this judge: ask again, and look for drift. A later look needs a --run.",
        ),
    ]
    own_name: Annotated[
        str | None,
        Declared(
            group=Group.JUDGES,
            metavar="MODEL",
            help="The model that judges, where --judge does not say it: whose name it may favour.",
            in_python="The model that judges, where the judge does not say it, as a function of yours: whose name it "
            "may favour.",
        ),
    ]
    to: Annotated[
        str | Path | Sequence[str | Path] | None,
        Declared(
            group=Group.OUTPUT,
            metavar="FILE",
            typed_as=list[Path],
            help="Write the card to this file too: a page (.html), or what --require-card reads (.json).",
            in_python="Write the card to these files too: .html or .json.",
        ),
    ]


class CompeteOptions(CallOptions, ReplyOptions, total=False):
    """Every option of `mixseek compete`; what is left out, or None, is as on the command line."""

    execution: Annotated[
        str | None,
        Declared(group=Group.RUN, metavar="NAME", help="Name of the execution. Default: the same for the same race."),
    ]
    directory: Annotated[
        str | Path | None,
        Declared(
            group=Group.RUN,
            is_typed=False,
            help="Where paths and modules of a race begin that is no file. Default: the current directory.",
        ),
    ]


class EvaluateOptions(CallOptions, ReplyOptions, total=False):
    """Every option of `mixseek evaluate`; what is left out, or None, is as on the command line."""

    judge: Annotated[
        str | None,
        Declared(
            group=Group.JUDGES,
            metavar="SPEC",
            help="The judge of all metrics that name none: openai:gpt-5-mini.",
            in_python="The judge of all metrics that name none: `openai:gpt-5-mini`, a name from mixseek.toml.",
        ),
    ]
    evaluator: Annotated[
        "str | Path | Mapping[str, Any] | EvaluationFile | None",
        Declared(
            group=Group.ASKED,
            metavar="FILE",
            typed_as=Path,
            help="A TOML file with [evaluator] as in a race, or a race. Default: ClarityCoherence, Coverage and "
            "Relevance with equal weights.",
            in_python="A file with an `[evaluator]` as in a race, or what would stand in it. Default: the three "
            "built-in metrics.",
        ),
    ]
    language: Annotated[
        "Language | None",
        Declared(
            group=Group.ASKED,
            metavar="LANGUAGE",
            typed_as=Literal["en", "ja", "zh"],
            help="Of the prompts: en, ja or zh. Default: ja, as in a race.",
        ),
    ]


# What only a terminal needs: Python has the run itself, `progress` and the logger instead.


class ShownOptions(TypedDict, total=False):
    """The options of nearly every command."""

    as_json: Annotated[
        bool,
        Declared(group=Group.OUTPUT, flags=("--json",), help="Print one JSON document instead of text."),
    ]
    quiet: Annotated[bool, Declared(group=Group.OUTPUT, flags=("--quiet", "-q"), help="No progress on stderr.")]


class DryRunOptions(TypedDict, total=False):
    """The options of every command that sends something."""

    dry_run: Annotated[
        bool,
        Declared(group=Group.OUTPUT, help="Print the calls, tokens and cost to be expected; send nothing."),
    ]


class BuildServerOptions(TypedDict, total=False):
    """The options of commands whose result a build server shows."""

    junit: Annotated[
        Path,
        Declared(
            group=Group.OUTPUT,
            metavar="FILE",
            help="Write JUnit XML for a build server: a test case for each gate and each sample that failed.",
        ),
    ]
    github_summary: Annotated[
        bool,
        Declared(
            group=Group.OUTPUT, help="Add headline, gates and the worst five as Markdown to $GITHUB_STEP_SUMMARY."
        ),
    ]
    summary_file: Annotated[
        Path,
        Declared(group=Group.OUTPUT, metavar="FILE", help="Write the same Markdown to this file instead."),
    ]


class JudgeCommand(JudgeOptions, ShownOptions, DryRunOptions, BuildServerOptions, total=False):
    """`mixseek judge` as it is typed."""

    log_json: Annotated[bool, Declared(group=Group.OUTPUT, help="Progress and notices on stderr as JSON lines.")]


class AnswerCommand(AnswerOptions, ShownOptions, DryRunOptions, total=False):
    """`mixseek answer` as it is typed."""

    log_json: Annotated[bool, Declared(group=Group.OUTPUT, help="Progress and notices on stderr as JSON lines.")]


class AuditCommand(AuditOptions, ShownOptions, DryRunOptions, total=False):
    """`mixseek audit` as it is typed."""


class CompeteCommand(CompeteOptions, ShownOptions, DryRunOptions, total=False):
    """`mixseek compete` as it is typed."""

    fail_under: Annotated[
        float, Declared(group=Group.GATES, metavar=POINTS, help="Exit 1 if the best score is lower: 80 or 80%.")
    ]
    max_invalid: Annotated[
        float, Declared(group=Group.GATES, metavar=SHARE, help="Exit 1 if more metric replies cannot be used.")
    ]


class EvaluateCommand(EvaluateOptions, ShownOptions, total=False):
    """`mixseek evaluate` as it is typed."""

    query: Annotated[
        str,
        Declared(group=Group.DATA, metavar="TEXT", help="What was asked. Default: each row's `question`."),
    ]
    query_file: Annotated[Path, Declared(group=Group.DATA, metavar="FILE", help="What was asked, as a file.")]
    text: Annotated[list[str], Declared(group=Group.DATA, metavar="TEXT", help="A submission itself; repeat for more.")]
    mapping: Annotated[
        Mapping[str, str],
        Declared(
            group=Group.DATA,
            flags=("--map",),
            metavar=MAPPING,
            typed_as=list[str],
            help="Where a field stands in a table: response=output.",
        ),
    ]
    fail_under: Annotated[
        float, Declared(group=Group.GATES, metavar=POINTS, help="Exit 1 if a submission scores lower: 80 or 80%.")
    ]


# By the name of the function and of the command: what Python takes, and what is typed.
TABLES: Mapping[str, tuple[type, type]] = {
    "judge": (JudgeOptions, JudgeCommand),
    "answer": (AnswerOptions, AnswerCommand),
    "audit": (AuditOptions, AuditCommand),
    "compete": (CompeteOptions, CompeteCommand),
    "evaluate": (EvaluateOptions, EvaluateCommand),
}
