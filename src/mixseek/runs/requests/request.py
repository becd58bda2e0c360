"""What a request asks of the dataset, and the parts it is made into."""

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mixseek.checks.settled import NO_CHECKS, CheckSet
from mixseek.datasets.answer_runs import PREFIX, answers_source, names_answers, resolve_answers
from mixseek.datasets.attachments import RowRequirements
from mixseek.datasets.pairing import PairChoice, read_choice
from mixseek.datasets.reader import Dataset, Survey, open_dataset
from mixseek.datasets.rubric_files import RubricDirectory
from mixseek.domain.check_findings import ROW_CHECKS
from mixseek.domain.counting import Counting, CutOffChoice, UndecidedChoice
from mixseek.domain.judgments import Method
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import JudgeProtocol, LiveJudge
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.engine.offline import needs_response
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.judges.specs import ChecksJudge, RulesJudge
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import DeclaredProtocol
from mixseek.protocols.registry import checks_of, earlier_protocols, load_protocol, names_version, with_checks
from mixseek.runs.requests.log_scorers import expand_scorers, is_log_judge
from mixseek.runs.requests.manifest_entries import describe_judge
from mixseek.runs.requests.named import (
    AnyJudge,
    NamedJudge,
    asks_questions,
    get_panel,
    is_remote,
    replays_file,
    replays_rows,
)
from mixseek.runs.requests.planned_grid import PlannedGrid
from mixseek.runs.requests.routing import CertifiedRoute
from mixseek.settings.models import JudgeSettings
from mixseek.storage.journal.journal import verify_journal
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace, default_run_id

if TYPE_CHECKING:
    from mixseek.judges.replay import FileReplayJudge

RULES = Method.RULES.value
# The judge, and the kind of the protocol that only it can judge by.
CHECKS = "checks"


def refuse_unfit_judges(protocol: JudgeProtocol, judges: Sequence[AnyJudge]) -> None:
    """Raises ConfigurationError for a judge that has nothing to say under the protocol."""
    refuse_absent_rules(protocol, judges)
    refuse_log_scores(protocol, judges)
    refuse_checks_judge(protocol, judges)
    refuse_unaskable_questions(protocol, judges)


def refuse_unaskable_questions(protocol: JudgeProtocol, judges: Sequence[AnyJudge]) -> None:
    """Raises ConfigurationError for a decision endpoint under a protocol that cannot be put as questions."""
    refusal = protocol.question_set.refusal if any(map(asks_questions, judges)) else None
    if refusal is not None:
        name = next(judge.name for judge in judges if asks_questions(judge))
        raise ConfigurationError(f"judge {name!r} cannot judge by the {protocol.name} protocol: {refusal}")


def refuse_absent_rules(protocol: JudgeProtocol, judges: Sequence[AnyJudge]) -> None:
    """A protocol that only a model can judge would leave every sample undecided."""
    has_rules = not isinstance(protocol, DeclaredProtocol) or protocol.has_rules
    if not has_rules and any(judge.name == RULES for judge in judges):
        raise ConfigurationError(
            f"the {protocol.name} protocol has no rules to decide by; name who judges with --judge PROVIDER:MODEL, "
            "or --judge replay:FILE for recorded replies"
        )


def refuse_log_scores(protocol: JudgeProtocol, judges: Sequence[AnyJudge]) -> None:
    """Scorers of other tools say correct or incorrect, or give a number: no other protocol has such verdicts."""
    named = next((judge.name for judge in judges if is_log_judge(judge.name)), None)
    if named is not None and not (isinstance(protocol, DeclaredProtocol) and protocol.has_rules):
        raise ConfigurationError(
            f"judge {named!r}: the score of another tool is no judgment by the {protocol.name} protocol; "
            "use --protocol semantic, which asks the same: correct or not"
        )


def refuse_checks_judge(protocol: JudgeProtocol, judges: Sequence[AnyJudge]) -> None:
    """Checks say whether a sample keeps them; a protocol without such verdicts has no word for that."""
    kind = protocol.declaration.kind if isinstance(protocol, DeclaredProtocol) else None
    names = [judge.name for judge in judges]
    other = next((name for name in names if name != CHECKS), None)
    if kind == CHECKS and other is not None:
        raise ConfigurationError(
            f"judge {other!r}: the {protocol.name} protocol is decided by checks alone; use --judge checks, or name "
            "another --protocol: what its judges say then stands beside the checks"
        )
    has_words = isinstance(protocol, DeclaredProtocol) and protocol.check_words is not None
    if CHECKS in names and not has_words:
        raise ConfigurationError(
            f"judge 'checks': the {protocol.name} protocol has no verdict for a failed check; leave --judge checks "
            "out (findings stand beside every judge's verdict), or use --protocol checks"
        )


def refuse_absent_checks(protocol: JudgeProtocol, judges: Sequence[AnyJudge], survey: Survey) -> None:
    """Raises ConfigurationError where there is nothing to check: everything would be left undecided."""
    if any(judge.name == CHECKS for judge in judges) and not checks_of(protocol) and ROW_CHECKS not in survey.columns:
        raise ConfigurationError(
            "judge 'checks': there is nothing to check; declare some with --check uses:TOOL, in a table [checks] of "
            f"the protocol or the job, or in a column `{ROW_CHECKS}` of the data"
        )


_MATCHED_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Requests are left with a provider for hours, at its price for that."""

    # Of every judge; otherwise of those whose table says so.
    is_for_all: bool = True
    # Until everything is here; otherwise one look, and the same command again later.
    waits: bool = False
    poll_seconds: float = 30.0
    # What a batch brought no answer for is asked at once, instead of in another batch.
    asks_rest_live: bool = False
    # Where requests are written as files, instead of being submitted.
    files: Path | None = None


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How judges are asked that have to be waited for; a judge's own settings win over the first two."""

    concurrency: int = 32
    max_reasks: int = 1
    repeats: int = 1
    max_calls: int | None = None
    max_cost_usd: float | None = None
    use_cache: bool = True
    # None: as long as is usual, which is not long for an endpoint that has never answered.
    patience_seconds: float | None = None
    # Ask again what the judge refused, or gave no valid reply to, when this run was judged before.
    retry_refused: bool = False
    retry_invalid: bool = False
    # A judge that refuses everything, or gives nothing valid, stops the run unless this is set.
    keep_going: bool = False
    timeout_seconds: float | None = None
    # Of targets: ask once more, with twice the limit, where a response was cut off.
    retries_cut_off: bool = False
    # How batches are waited for, and whose requests are left in them.
    batches: BatchOptions = BatchOptions(is_for_all=False)


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Ray instead of this machine: where it is (None: RAY_ADDRESS, or one of our own here), and into how many parts."""

    address: str | None = None
    shards: int | None = None


@dataclass(frozen=True, slots=True)
class PairBudget:
    """So many pairs; `top`: they are to tell who belongs to the first so many, None: the whole order."""

    pairs: int
    top: int | None = 3


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """`mixseek judge` as data; `data` is a path, or `-` for stdin."""

    data: str
    workspace: Path
    protocol: str | JudgeProtocol = "semantic"
    language: str | None = None
    judges: Sequence[NamedJudge] = (RULES,)
    cascade: bool = False
    # A cascade by a certificate: which verdicts of which judge count. Its judges are the request's.
    route: CertifiedRoute | None = None
    run: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    workers: int = 0
    gates: Mapping[str, float] = field(default_factory=dict)
    # How several judges become one verdict; None is the default of the protocol's scale.
    panel: PanelRule | None = None
    # What its means take of responses that were cut off and of undecided samples; None is the usual.
    cut_off: CutOffChoice | None = None
    undecided: UndecidedChoice | None = None
    command_line: Sequence[str] = ()
    live: LiveOptions = LiveOptions()
    # None: this machine.
    cluster: ClusterOptions | None = None
    configured: Mapping[str, JudgeSettings] = field(default_factory=dict)
    # A list of what was meant to be judged: its holes are flagged.
    planned: str | None = None
    # Whether one recorded reply may be about many samples, and is taken apart then.
    bundles: bool = False
    # Replace those of the protocol's file; part of its hash.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # What is checked of every sample, beside what the protocol's file declares.
    checks: CheckSet = NO_CHECKS
    # A Markdown rubric, or a directory with one for each task.
    rubric: Path | None = None
    # Judges see the reasoning that stands beside a response.
    shows_reasoning: bool = False
    # Rows may name files outside the dataset's directory.
    allows_outside_files: bool = False
    # Which pairs are made of single outputs: all, baseline:MODEL, or a number; None where rows hold pairs, or none.
    pairs: str | None = None
    # Of whatever is drawn.
    seed: int = 0
    # How many of the pairs are judged, chosen round by round; None: all.
    budget: PairBudget | None = None
    # What the data are called where the file is only a copy of what was in memory.
    data_name: str | None = None
    # How many bytes a line of the data may have.
    longest_line: int = LONGEST_LINE_BYTES
    # Judge cards that must fit and hold before anything is asked, and how old they may be.
    required_cards: Sequence[Path] = ()
    card_max_age: timedelta | None = None
    # Whether a run that stopped before anything was judged is kept: who has it as an object asks it why.
    keeps_empty_run: bool = False
    # Where keys are found; never to be shown.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def counting(self) -> Counting:
        """What was said of means; each part may be left out."""
        return Counting(self.cut_off, self.undecided)

    def load_protocol(self) -> JudgeProtocol:
        """The protocol of that name, with what the request changes; one given as an object is taken as it is."""
        if isinstance(self.protocol, str):
            return with_checks(load_protocol(self.protocol, self.language, self.parameters), self.checks)
        if self.language is not None or self.parameters:
            raise ConfigurationError(
                f"the {self.protocol.name} protocol is loaded already; give language and parameters to load_protocol"
            )
        return with_checks(self.protocol, self.checks)


class SampleSource(Protocol):
    """What a run goes through: a dataset, or questions that are still to be answered."""

    @property
    def name(self) -> str: ...
    @property
    def stem(self) -> str: ...
    @property
    def description(self) -> Mapping[str, Any]:
        """What the manifest says of it."""

    def survey(self) -> Survey:
        """Raises DatasetError for the first row that cannot be used, before anything is paid for."""

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Lists of at most `size` samples, in order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every part of a run, ready to work; nothing has been written yet."""

    request: JudgeRequest
    workspace: Workspace
    run: RunDirectory
    dataset: SampleSource
    samples: int
    protocol: JudgeProtocol
    judges: tuple[AnyJudge, ...]
    workers: int
    # Planned places without an output; judged to be incomplete, after the dataset.
    holes: tuple[Sample, ...] = ()
    grid: PlannedGrid | None = None

    @property
    def judge_names(self) -> tuple[str, ...]:
        """Names of the judges in the order in which they are asked."""
        return tuple(judge.name for judge in self.judges)

    @property
    def is_live(self) -> bool:
        """Whether anybody has to be waited for."""
        return any(is_remote(judge) for judge in self.judges)

    @property
    def batched_judges(self) -> list[LiveJudge]:
        """Those whose requests are left in batches."""
        options, configured = self.request.live.batches, self.request.configured
        named = {name for name, settings in configured.items() if settings.batch}
        # A model in this process answers at once.
        sent = [judge for judge in self.judges if is_remote(judge) and "wire" in judge.description]
        return [judge for judge in sent if options.is_for_all or judge.name in named]

    @property
    def repeats(self) -> int:
        """Rules and recorded replies would only repeat themselves."""
        return self.request.live.repeats if self.is_live else 1


def check_cluster(cluster: ClusterOptions | None, batches: BatchOptions) -> None:
    """Raises ConfigurationError for a cluster that nothing here can speak to, or that has nothing to do."""
    if cluster is not None and batches.is_for_all:
        raise ConfigurationError("--batch waits with a provider, and not on a cluster; leave --on ray out")
    if cluster is not None and importlib.util.find_spec("ray") is None:
        raise ConfigurationError("--on ray needs an extra: pip install 'mixseek[ray]'")


def check_combination(request: JudgeRequest) -> None:
    """Raises ConfigurationError for options that cannot be had together."""
    if request.cluster is not None and request.budget is not None:
        raise ConfigurationError("--budget: its rounds wait for one another; leave --on ray out, or the budget")
    if request.route is not None:
        check_route_options(request)
    check_cluster(request.cluster, request.live.batches)


def fit_route(request: JudgeRequest, protocol: JudgeProtocol) -> JudgeRequest:
    """The request with its route, if it has one, reading scores on the protocol's scale."""
    return request if request.route is None else replace(request, route=request.route.fitted(protocol))


def check_route_options(request: JudgeRequest) -> None:
    """Raises ConfigurationError for what a cascade by a certificate cannot be combined with."""
    if request.live.batches.is_for_all:
        raise ConfigurationError("--batch: a cascade file asks one judge after the other, and a batch takes a day each")
    if request.cluster is not None:
        raise ConfigurationError("--on ray: a cascade file is followed on one machine; leave --on out")
    if request.panel is not None:
        raise ConfigurationError("--panel: a cascade gives one verdict a sample already; choose one of both")
    if request.budget is not None:
        raise ConfigurationError("--budget: pairs are chosen by what all judges say; leave the cascade file out")


def make_plan(request: JudgeRequest, cores: int) -> Plan:
    """Raises ConfigurationError for whatever cannot work, before anything is written; cheap checks come first."""
    check_combination(request)
    request = replace(request, judges=expand_scorers(request.judges, request.data, request.longest_line))
    protocol = request.load_protocol()
    request = fit_route(request, protocol)
    timeout = request.live.timeout_seconds
    judges = get_panel(
        request.judges,
        request.configured,
        request.environment,
        timeout,
        takes_bundles=request.bundles,
        longest_line=request.longest_line,
    )
    workspace = Workspace(request.workspace)
    if request.run is not None:
        workspace.run(request.run)
    refuse_unfit_judges(protocol, judges)
    grid = PlannedGrid(request.planned) if request.planned is not None else None
    dataset = open_requested(request, workspace, protocol, judges, grid)
    refuse_blind_rules(dataset, judges)
    survey = dataset.survey()
    refuse_absent_checks(protocol, judges, survey)
    # Bundled replies name their samples in their own words, so they are laid out before anything is judged.
    judges = tuple(
        judge.matched_to(lambda: chain.from_iterable(dataset.batches(_MATCHED_AT_ONCE)))
        if replays_file(judge) and judge.bundles
        else judge
        for judge in judges
    )
    holes = tuple(grid.holes()) if grid is not None else ()
    samples = min((survey.rows, *count_of(request))) + len(holes)
    run_by = partial(
        run_of,
        workspace,
        request.run,
        dataset_stem=dataset.stem,
        dataset_digest=survey.sha256,
        judges=[describe_judge(judge).model_dump_json() for judge in judges],
        options=options_of(request, survey.mapping, samples, judges, grid),
    )
    protocol = begun_with(request, protocol, run_by)
    # Rules are pure computation and spread well; a replay file would be opened again by every process, and a class of
    # the user's may not be found there.
    computed = (RulesJudge, ChecksJudge)
    spreads = isinstance(protocol, DeclaredProtocol) and all(isinstance(judge, computed) for judge in judges)
    workers = (request.workers or cores) if spreads else 1
    return Plan(request, workspace, run_by(protocol), dataset, samples, protocol, judges, workers, holes, grid)


def run_of(workspace: Workspace, name: str | None, protocol: JudgeProtocol, **parts: Any) -> RunDirectory:
    """Where what that protocol judges is kept: under the name that was given, or one made of all that was asked."""
    if name is None:
        name = default_run_id(protocol_name=protocol.name, protocol_hash=protocol.hash, **parts)
    return workspace.run(name)


def begun_with(
    request: JudgeRequest, protocol: JudgeProtocol, run_by: Callable[[JudgeProtocol], RunDirectory]
) -> JudgeProtocol:
    """The protocol, unless the same command began a run by an earlier version of its prompts: then that version."""
    if not isinstance(request.protocol, str) or names_version(request.protocol):
        return protocol
    if request.run is None and run_by(protocol).exists():
        return protocol
    for earlier in earlier_protocols(protocol):
        run = run_by(earlier)
        if run.exists() and read_manifest(run.manifest).protocol.hash == earlier.hash:
            return earlier
    return protocol


def open_requested(
    request: JudgeRequest,
    workspace: Workspace,
    protocol: JudgeProtocol,
    judges: Sequence[AnyJudge],
    grid: PlannedGrid | None,
) -> Dataset:
    """The dataset with what the protocol and the judges ask of its rows, worked out before a row is read."""
    # Only replies that stand in the rows themselves can do without the judged text.
    is_recorded = all(map(replays_rows, judges))
    needs = protocol.needs if isinstance(protocol, DeclaredProtocol) else SampleNeeds()
    pairs = choose_pairs(request, protocol, needs)
    requirements = RowRequirements(
        protocol=protocol.name,
        needs=needs,
        response=not is_recorded,
        judges_steps=needs.steps or not any(map(needs_response, judges)),
        rubrics=RubricDirectory(request.rubric) if request.rubric is not None else None,
        bundles=request.bundles,
        scores=any(is_log_judge(judge.name) for judge in judges),
        allows_outside_files=request.allows_outside_files,
    )
    recorded = [judge for judge in judges if replays_file(judge)]
    answers = resolve_answers(workspace, request.data) if names_answers(request.data) else None
    if answers is not None:
        # Before anybody is paid to judge what somebody may have changed.
        verify_journal(answers)
    return open_dataset(
        request.data,
        name=request.data_name if answers is None else f"{PREFIX}{answers.name}",
        source=None if answers is None else answers_source(answers),
        shows_reasoning=request.shows_reasoning,
        mapping=request.mapping,
        spool_directory=workspace.spool,
        requirements=requirements,
        note_row=partial(note_row, recorded, grid) if recorded or grid is not None else None,
        pairs=pairs,
        longest_line=request.longest_line,
    )


def count_of(request: JudgeRequest) -> tuple[int, ...]:
    """What bounds the number of samples."""
    return tuple(
        bound for bound in (request.limit, request.budget.pairs if request.budget else None) if bound is not None
    )


def choose_pairs(request: JudgeRequest, protocol: JudgeProtocol, needs: SampleNeeds) -> PairChoice | None:
    """None where the rows are taken as they are; ConfigurationError where nobody would judge pairs."""
    if request.budget is not None and not needs.is_pair:
        raise ConfigurationError(f"--budget: chooses pairs; the {protocol.name} protocol judges one response at a time")
    if request.budget is not None and request.limit is not None:
        raise ConfigurationError("--budget says how many pairs are judged; leave --limit out")
    if request.pairs is None:
        return None
    if not needs.is_pair:
        raise ConfigurationError(
            f"--pairs: the {protocol.name} protocol judges one response at a time; use --protocol pairwise"
        )
    return read_choice(request.pairs, request.seed)


def note_row(judges: "Sequence[FileReplayJudge]", grid: PlannedGrid | None, values: Mapping[str, Any]) -> None:
    """So that judges can say which of their replies nobody wanted, and a plan which of its places are empty."""
    for judge in judges:
        judge.note_sample(values["id"])
    if grid is not None:
        grid.note_row(values)


def options_of(
    request: JudgeRequest,
    mapping: Mapping[str, str],
    samples: int,
    judges: Sequence[AnyJudge],
    grid: PlannedGrid | None,
) -> dict[str, object]:
    """What else makes a request another one."""
    options: dict[str, object] = {"cascade": request.cascade, "mapping": dict(mapping), "samples": samples}
    if request.route is not None:
        options["route"] = request.route.document
    if request.live.repeats > 1 and any(map(is_remote, judges)):
        options["repeats"] = request.live.repeats
    if grid is not None:
        options["plan"] = grid.description["sha256"]
    if request.pairs is not None:
        options["pairs"] = f"{request.pairs}|{request.seed}"
    if request.shows_reasoning:
        options["shows_reasoning"] = True
    if checks := checks_of(request.load_protocol()):
        options["checks"] = checks.documents
    if request.budget is not None:
        options["budget"] = f"{request.budget.pairs}|{request.budget.top}|{request.seed}"
    return options


def refuse_blind_rules(dataset: Dataset, judges: Sequence[AnyJudge]) -> None:
    """Rules without a single ground truth would leave everything undecided: surely a column with another name."""
    survey = dataset.survey()
    if survey.rows_without_ground_truth == survey.rows and any(judge.name == RULES for judge in judges):
        columns = ", ".join(islice(survey.columns, 12))
        if column := survey.mapping.get("ground_truth"):
            raise DatasetError(
                f"{dataset.name}: the column `{column}` is there and empty in every row, so rules have nothing to "
                "compare with; fill it in, or name another with --map ground_truth=COLUMN"
            )
        raise DatasetError(
            f"{dataset.name}: no row has a `ground_truth`, so rules have nothing to compare with; "
            f"name its column with --map ground_truth=COLUMN (columns: {columns})"
        )


def available_cores() -> int:
    """Cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
