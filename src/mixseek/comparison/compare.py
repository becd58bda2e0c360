"""B against A: two runs, two targets or two prompt variants, paired sample by sample."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mixseek.analysis.run.summarise import panel_rule
from mixseek.analysis.workspace.manifests import dataset_name
from mixseek.comparison.model import ComparedSide, Comparison, Drift, GroupDifference
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.panels import PanelRule
from mixseek.errors import ConfigurationError
from mixseek.index import pairing as paired
from mixseek.index.pairing import FACTORS, PairIndex, Side, SideName, open_pairs
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.difference import MOST_FLIPPED, Difference, estimate_difference, needs_moves
from mixseek.stats.uneven import holm_adjusted
from mixseek.storage.journal.manifest import Manifest, ProtocolEntry, read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace, find_name, find_run, list_first
from mixseek.text.messages import Message, counted, message
from mixseek.text.phrases import value_text

_COLUMNS = {"target": "target_model", "variant": "prompt_variant"}
_DIFFERENCES_NAMED = 5
LETTERS: tuple[SideName, SideName] = ("a", "b")
# Pairs of each kind that a page shows with their texts, and that a program gets with scores; of the rest it gets ids.
LISTED, LISTED_IN_JSON = 250, 10_000


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """One or two runs; a target or variant that is named once limits both sides, named twice it tells them apart."""

    workspace: Path
    runs: Sequence[str | RunDirectory] = ()
    targets: Sequence[str] = ()
    variants: Sequence[str] = ()
    panel: PanelRule | None = None  # how several judges become one; the runs' own rule where none is named
    counting: Counting = USUAL  # what both means take; the runs' own choice where none is named


def load_comparison(request: CompareRequest, listed: int = LISTED, *, is_complete: bool = False) -> Comparison:
    """Everything a renderer shows: at most `listed` pairs in each list; `is_complete` adds the ids of all."""
    refuse_too_many(request)
    workspace = Workspace(request.workspace)
    runs = find_runs(workspace, request.runs)
    manifests = [read_manifest(run.manifest) for run in runs]
    names = f"run {runs[0].name}", f"run {runs[1].name}"
    refuse_other_protocol(names, manifests[0].protocol, manifests[1].protocol)
    with open_pairs(*runs) as index:
        rules = find_rules(index, runs, manifests, request.panel)
        counting = find_counting(runs, manifests, request.counting)
        a, b = (replace(side, rule=rule) for side, rule in zip(choose_sides(index, request, runs), rules, strict=True))
        index.lay_out(a, b, counting)
        comparison = replace(build_comparison(index, (a, b), manifests, listed), counting=counting)
        return replace(comparison, ids=name_all(index, comparison)) if is_complete else comparison


def find_runs(workspace: Workspace, names: Sequence[str | RunDirectory]) -> tuple[RunDirectory, RunDirectory]:
    """The two that are named; one, or the only one there is, stands for both. A program may have some elsewhere."""
    runs = [workspace.resolve(name) if isinstance(name, str) else name for name in names]
    runs = runs or [find_run(workspace, None)]
    return runs[0], runs[-1]


def find_rules(
    index: PairIndex, runs: Sequence[RunDirectory], manifests: Sequence[Manifest], requested: PanelRule | None
) -> list[PanelRule | None]:
    """How the judges of each side become one; raises ConfigurationError where two panels would do it differently."""
    cascades = [manifest.cascade and len(manifest.judges) > 1 for manifest in manifests]
    rules = [
        panel_rule(index.facts(letter), manifest, None if is_cascade and not all(cascades) else requested)
        for letter, manifest, is_cascade in zip(LETTERS, manifests, cascades, strict=True)
    ]
    named = list(dict.fromkeys(rule.value for rule in rules if rule is not None))
    if len(named) > 1:
        raise ConfigurationError(
            f"the judges of {runs[0].name} become one by {named[0]}, those of {runs[1].name} by {named[1]}; "
            f"name one rule for both: --panel {named[0]}"
        )
    return rules


def find_counting(runs: Sequence[RunDirectory], manifests: Sequence[Manifest], asked: Counting) -> Counting:
    """What both means take; raises ConfigurationError where the runs were judged with two choices."""
    a, b = (asked.or_else(manifest.counting).explicit for manifest in manifests)
    for option in ("cut_off", "undecided"):
        first, second = getattr(a, option), getattr(b, option)
        if first is not second:
            flag = f"--{option.replace('_', '-')}"
            raise ConfigurationError(
                f"{runs[0].name} was judged with {flag} {first.value}, {runs[1].name} with {flag} {second.value}; "
                f"name one choice for both: {flag} {first.value}"
            )
    return a


def refuse_too_many(request: CompareRequest) -> None:
    if len(request.runs) > 2:
        raise ConfigurationError(
            f"{len(request.runs)} runs: a comparison is of two; `mixseek report RUN RUN RUN` sets several side by side"
        )
    for option, names in (("target", request.targets), ("variant", request.variants)):
        if len(names) > 2:
            raise ConfigurationError(
                f"--{option} {len(names)} times: once limits both sides, twice names the first (A) and the second (B)"
            )


def choose_sides(
    index: PairIndex, request: CompareRequest, runs: tuple[RunDirectory, RunDirectory]
) -> tuple[Side, Side]:
    """The sides by the names that there are; raises ConfigurationError where nothing tells A from B."""
    if len(request.runs) < 2 and len(request.targets) < 2 and len(request.variants) < 2:
        raise ConfigurationError(f"run {runs[0].name}: with what? name a second run{what_there_is(index)}")
    a, b = (
        Side(
            run,
            target=find_part(index, letter, run, "target", request.targets),
            variant=find_part(index, letter, run, "variant", request.variants),
        )
        for letter, run in zip(LETTERS, runs, strict=True)
    )
    return a, b


def find_part(index: PairIndex, letter: SideName, run: RunDirectory, option: str, names: Sequence[str]) -> str | None:
    """The target or variant that is meant on a side; None where the side is not limited to one."""
    if not names:
        return None
    known = index.names(letter, _COLUMNS[option])
    if not known:
        raise ConfigurationError(f"run {run.name}: no sample names its {_COLUMNS[option]}")
    return find_name(names[0] if letter == "a" else names[-1], known, f"run {run.name}", option)


def what_there_is(index: PairIndex) -> str:
    """The targets and variants of a run, as they would be typed."""
    hints = ""
    for option, column in _COLUMNS.items():
        names = index.names("a", column)
        if len(names) > 1:
            hints += f"; or two {option}s, --{option} {names[0]} --{option} {names[1]} (there is {list_first(names)})"
    return hints


def refuse_other_protocol(runs: tuple[str, str], a: ProtocolEntry, b: ProtocolEntry) -> None:
    """What was asked differently cannot be compared, however alike the numbers look."""
    if a.hash == b.hash:
        return
    differing = list(protocol_differences(a, b))
    more = f" and {len(differing) - _DIFFERENCES_NAMED} more" if len(differing) > _DIFFERENCES_NAMED else ""
    listed = "; ".join(differing[:_DIFFERENCES_NAMED])
    raise ConfigurationError(
        f"{runs[0]} and {runs[1]} are judged under different protocols, so they cannot be compared: {listed}{more}"
    )


def protocol_differences(a: ProtocolEntry, b: ProtocolEntry) -> Iterator[str]:
    """`parameters.verdict.pass_from: 7, 6` for each thing that differs, the coarsest first."""
    for name in ("name", "version", "language"):
        if getattr(a, name) != getattr(b, name):
            yield f"{name}: {getattr(a, name)}, {getattr(b, name)}"
    yield from differing_values("parameters", a.parameters, b.parameters)
    for role in sorted({*a.prompt_hashes, *b.prompt_hashes}):
        if a.prompt_hashes.get(role) != b.prompt_hashes.get(role):
            yield f"the text of the prompt {role!r}"
    yield f"hash: {a.hash[:8]}, {b.hash[:8]}"


def differing_values(path: str, a: Any, b: Any) -> Iterator[str]:
    """Where two values differ, leaf by leaf."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in sorted({*a, *b}):
            yield from differing_values(f"{path}.{key}", a.get(key), b.get(key))
    elif a != b:
        yield f"{path}: {value_text(a, 39)}, {value_text(b, 39)}"


# From the index to what is shown.


def build_comparison(
    index: PairIndex, sides: tuple[Side, Side], manifests: Sequence[Manifest], listed: int
) -> Comparison:
    names = name_sides(*sides)
    whole = estimate(index)
    labels = index.judge_labels(*(manifest.judge_names for manifest in manifests))
    protocol = manifests[0].protocol
    compared = [
        describe_side(index, letter, name, side, manifest, listed)
        for letter, name, side, manifest in zip(LETTERS, names, sides, manifests, strict=True)
    ]
    return Comparison(
        protocol=f"{protocol.name} {protocol.version}",
        protocol_hash=protocol.hash,
        a=compared[0],
        b=compared[1],
        paired_by=index.pairing.columns,
        difference=whole,
        groups={factor: groups for factor in FACTORS if len(groups := estimate_groups(index, factor)) > 1},
        drift=find_drift(index, whole, listed),
        statuses=tuple(index.statuses()),
        better=tuple(index.pairs(paired.BETTER, listed)) if whole.sums.better else (),
        worse=tuple(index.pairs(paired.WORSE, listed)) if whole.sums.worse else (),
        unscored=tuple(index.pairs(paired.UNSCORED, listed)) if whole.unscored else (),
        notes=tuple(find_notes(index, sides, manifests, labels)),
        labels=labels,
        finished=estimate(index, paired.FINISHED) if any(side.responses.unfinished for side in compared) else None,
    )


def name_all(index: PairIndex, comparison: Comparison) -> dict[str, tuple[str, ...]]:
    """The ids of every pair that changed, and of every sample without a partner, however many they are."""
    wheres = {
        "better": paired.BETTER,
        "worse": paired.WORSE,
        "unscored": paired.UNSCORED,
        "drift": paired.CHANGED_JUDGMENT,
    }
    named = {kind: tuple(index.pair_names(where)) for kind, where in wheres.items()}
    sides = (("only_a", LETTERS[0], comparison.a.unpaired), ("only_b", LETTERS[1], comparison.b.unpaired))
    return named | {kind: tuple(index.unpaired(letter)) if count else () for kind, letter, count in sides}


def name_sides(a: Side, b: Side) -> tuple[str, str]:
    """Names by what tells them apart: the run, the target, the variant, or several of these."""
    differing = [(first, second) for first, second in zip(parts_of(a), parts_of(b), strict=True) if first != second]
    if not differing:
        return a.run.name, b.run.name
    return " · ".join(first for first, _ in differing if first), " · ".join(second for _, second in differing if second)


def parts_of(side: Side) -> tuple[str | None, ...]:
    return side.run.name, side.target, side.variant


def describe_side(
    index: PairIndex, letter: SideName, name: str, side: Side, manifest: Manifest, listed: int
) -> ComparedSide:
    counted = index.count_side(letter)
    return ComparedSide(
        letter=letter.upper(),
        name=name,
        run=side.run.name,
        dataset=dataset_name(manifest),
        judges=manifest.judge_names,
        samples=counted.samples,
        unpaired=counted.unpaired,
        unpaired_ids=tuple(index.unpaired(letter, listed)) if counted.unpaired else (),
        target=side.target,
        variant=side.variant,
        panel=side.rule.value if side.rule else None,
        responses=index.responses(letter),
    )


def estimate(index: PairIndex, where: str = paired.EVERYTHING) -> Difference:
    return estimate_by(index, None, where).get(None) or estimate_difference(paired.NO_PAIRS, ())


def estimate_by(index: PairIndex, factor: str | None, where: str = paired.EVERYTHING) -> dict[str | None, Difference]:
    """Differences by the values of a factor; without one, of all pairs under None."""
    sums = index.sums(factor, where)
    moves = index.moves(MOST_FLIPPED, factor, where) if any(map(needs_moves, sums.values())) else {}
    return {
        name: estimate_difference(group_sums, moves.get(name, ()), is_itself=index.is_one_side)
        for name, group_sums in sums.items()
    }


def estimate_groups(index: PairIndex, factor: str) -> tuple[GroupDifference, ...]:
    """Each with Holm's p-value: among many tasks, one looks different by chance. Nothing where there is one group."""
    differences = estimate_by(index, factor) if index.is_varied(factor) else {}
    tested = {name: difference.test.p_value for name, difference in differences.items() if difference.test is not None}
    adjusted = dict(zip(tested, holm_adjusted(list(tested.values())), strict=True))
    return tuple(GroupDifference(name, difference, adjusted.get(name)) for name, difference in differences.items())


def find_drift(index: PairIndex, whole: Difference, listed: int) -> Drift:
    """What changed where the judged text did not."""
    shift = estimate(index, paired.SAME_TEXT)
    changed = index.sums(where=paired.CHANGED_JUDGMENT).get(None, paired.NO_PAIRS)
    part = changed.total / whole.sums.scored if whole.sums.scored and changed.pairs else None
    return Drift(
        shift=shift if shift.sums.pairs else None,
        changed=changed.pairs,
        lost_scores=changed.pairs - changed.scored,
        part=part,
        without=estimate(index, paired.WITHOUT_DRIFT) if changed.pairs else whole,
        pairs=tuple(index.pairs(paired.CHANGED_JUDGMENT, listed)) if changed.pairs else (),
    )


def find_notes(
    index: PairIndex, sides: tuple[Side, Side], manifests: Sequence[Manifest], labels: Mapping[str, str]
) -> Iterator[Message]:
    """What a reader must know before believing the difference."""
    a, b = manifests
    if a.run != b.run and (differing := differing_judges(a, b, labels)):
        words = "the judges differ ({judges}): a difference may be theirs"
        yield message("compare.judges_differ", words, judges=differing)
    for letter, manifest in zip("AB", manifests, strict=True):
        if not manifest.has_ended and (letter == "A" or a.run != b.run):
            unfinished = "run {run} ({letter}) is not finished: what it has not reached is in no pair"
            yield message("compare.not_finished", unfinished, run=manifest.run, letter=letter)
    if several := index.averaged_pairs():
        averaged = (
            "{pairs} for several samples of one question that nothing tells apart; their scores are averaged first"
        )
        yield message("compare.averaged_pairs", averaged, pairs=counted(several, "pair stands", "pairs stand"))


def differing_judges(a: Manifest, b: Manifest, labels: Mapping[str, str]) -> str | None:
    """Names where those differ, else what else is not the same about a judge; None where nothing is."""
    if a.judge_names != b.judge_names:
        first_names, second_names = (", ".join(labels[name] for name in side.judge_names) for side in (a, b))
        return f"A: {first_names}; B: {second_names}"
    for first_judge, second_judge in zip(a.judges, b.judges, strict=True):
        if first_judge.model != second_judge.model:
            return f"{first_judge.name}: {value_text(first_judge.model, 39)}, {value_text(second_judge.model, 39)}"
        differing = differing_values(
            first_judge.name, first_judge.without_replies.parameters, second_judge.without_replies.parameters
        )
        if difference := next(differing, None):
            return difference
    return None
