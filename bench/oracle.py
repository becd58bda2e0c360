"""`python -m bench.oracle`: values of independent libraries, reproduced by commands, on data beside the project.

Each case is one command as a user would type it and the values that its JSON must hold. Prints how many hold and the
worst error; with --show, every command and every value that does not.
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb

from mixseek.cli.main import main as mixseek

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ORACLE = "oracle_dev.json"
TOLERANCE = 1e-9
# Limits of Student's t: two ways to compute the quantile differ by more.
T_TOLERANCE = 1e-8
BOARD_TOLERANCE = 1e-7
PRIOR_TOLERANCE = 1e-6


def hashed(column: str, share: float) -> str:
    """The rows that the oracle calls labelled."""
    return f"('0x' || left(sha256({column}), 8))::BIGINT < {share} * 2**32"


@dataclass(frozen=True)
class Expected:
    """A value and where it stands in the document."""

    name: str
    value: float
    path: Sequence[str | int]
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Case:
    """One command: the options of `mixseek stats FILE --json`, and what must come out.

    `texts`: a file of items whose columns are put beside the rows, as one would who has two tables.
    """

    name: str
    file: str
    options: Sequence[str]
    expected: list[Expected] = field(default_factory=list)
    command: str = "stats"
    texts: str | None = None

    def add(self, name: str, value: Any, *path: str | int, tolerance: float = TOLERANCE) -> None:
        """One value, or both ends of an interval where the oracle has two numbers."""
        if value is not None:
            self.expected.append(Expected(f"{self.name}: {name}", float(value), path, tolerance))


@dataclass(frozen=True)
class Checked:
    """What became of one value."""

    expected: Expected
    found: float | None

    @property
    def error(self) -> float:
        return abs(self.found - self.expected.value) if self.found is not None else float("inf")

    @property
    def holds(self) -> bool:
        return self.error <= self.expected.tolerance


# The sections, as commands.


def binary_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """A judge's verdicts against people's."""
    humans = {"nq301": "human-final", "triviaqa_umass": "HumanJudgement"}
    for source, judges in oracle["binary_vs_human"].items():
        case = Case(f"binary {source}", f"scores_{source}.jsonl", ("--human", humans[source]))
        for judge, values in judges.items():
            at: tuple[str | int, ...] = ("against_human", f"rater_2={judge}")
            case.add(f"{judge} n", values["n"], *at, "n")
            for name in ("tp", "fp", "fn", "tn", "mcc"):
                case.add(f"{judge} {name}", values[name], *at, "confusion", name)
            for name in ("accuracy", "sensitivity", "specificity", "ppv", "npv"):
                case.add(f"{judge} {name}", values[name], *at, "confusion", name, "value")
                for end, limit in zip(("low", "high"), values.get(f"{name}_wilson", (None, None)), strict=True):
                    case.add(f"{judge} {name} {end}", limit, *at, "confusion", name, end)
            kappa = (*at, "coefficients", "kappa")
            case.add(f"{judge} kappa", values["cohen_kappa"], *kappa, "value")
            case.add(f"{judge} kappa se", values["cohen_kappa_se_nonnull"], *kappa, "se")
            for place, limit in enumerate(values["cohen_kappa_ci"]):
                case.add(f"{judge} kappa limit {place}", limit, *kappa, "independent_interval", place)
            case.add(f"{judge} alpha", values["krippendorff_nominal"], *at, "coefficients", "alpha_nominal", "value")
            case.add(f"{judge} ac1", values["gwet_ac1"], *at, "coefficients", "ac1", "value")
            case.add(f"{judge} ac1 se", values["gwet_ac1_se"], *at, "coefficients", "ac1", "se")
        yield case


def calibration_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """A judge's probabilities against people's yes and no."""
    case = Case("calibration nq301", "scores_nq301.jsonl", ("--human", "human-final"))
    for name, value in oracle["bem"].items():
        case.add(name, value, "against_human", "rater_2=BEM (bert matching)", name)
    yield case


def agreement_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Two raters on a scale, and several raters together."""
    for name, values in oracle["agreement"].items():
        file, options = agreement_command(name)
        case = Case(f"agreement {name}", file, options)
        is_pair = "kappa" in values
        at: tuple[str | int, ...] = ("pairs", 0) if is_pair else ("agreement",)
        for size in ("items", "ratings", "n"):
            case.add(size, values.get(size), *at, size)
        for key, value in values.items():
            if key.startswith(("alpha_", "kappa", "gwet_ac", "ac1", "ac2", "fleiss")):
                case.add(key, value, *at, "coefficients", key.removeprefix("gwet_"), "value")
        case.add("raters", values.get("raters"), *at, "raters", "len")
        for place, category in enumerate(values.get("categories", ())):
            case.add(f"category {place}", category, *at, "categories", place)
        case.add("mean difference", values.get("mean_diff"), *at, "mean_difference")
        for key in ("pearson", "spearman", "kendall_tau_b"):
            case.add(key, values.get(key), *at, key)
        yield case


def agreement_command(name: str) -> tuple[str, tuple[str, ...]]:
    """The file and the options for one entry of `agreement`."""
    first, _, rest = name.partition("_")
    if first == "shaberi":
        return "scores_shaberi.jsonl", ("--where", f"item LIKE 'shaberi:{rest}:%'")
    if first == "llmrubric":
        return "scores_llmrubric.jsonl", llmrubric_options(rest)
    if name.startswith("jbench_newsroom"):
        criterion = name.rpartition("_")[2]
        where = f"item LIKE 'jbench-newsroom:%' AND criterion = '{criterion}' AND judge IN ('rater0','rater1','rater2')"
        return "scores_jbench_humans.jsonl", ("--where", where, "--scale", "1..5")
    return {
        "elyza_x3": ("scores_elyza_cmdr_takes.jsonl", ("--scale", "1..5")),
        "prometheus_x3": ("scores_prometheus_gpt4x3.jsonl", ("--scale", "1..5")),
        "nq301_annotators": ("scores_nq301.jsonl", ("--where", "judge LIKE 'human-annotator%'")),
        "pandalm_3_humans": ("pairwise_pandalm_votes.jsonl", ("--where", "judge IN ('human1','human2','human3')")),
        "triviaqa_all_llm_judges": (
            "scores_triviaqa_umass.jsonl",
            ("--where", "judge NOT IN ('EM', 'Contains', 'HumanJudgement')"),
        ),
        "wildbench": ("scores_wildbench.jsonl", ("--scale", "1..10")),
    }[name]


def llmrubric_options(criterion: str) -> tuple[str, ...]:
    """Two dozen people are one rater, of whom the row with the least id counts."""
    judge = "CASE WHEN judge_type = 'human' THEN 'human' ELSE judge END"
    where = f"criterion = '{criterion}'"
    return ("--where", where, "--judge", judge, "--human", "human", "--order", "id", "--scale", "1..4")


def corrected_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Means corrected by labels of a fifth of the items."""
    for name, values in oracle["corrected_mean"].items():
        file, options, judge = corrected_command(name)
        labels = ("--labels", "random", "--pool", "rated", "--labelled", hashed("item", 0.2))
        case = Case(f"corrected {name}", file, (*options, *labels))
        at: tuple[str | int, ...] = ("corrected", f"judge={judge}" if judge else 0)
        case.add("N", values["N"], *at, "corrected", "items")
        case.add("n", values["n"], *at, "corrected", "labels")
        case.add("human mean", values["full_human_mean"], *at, "human", "mean")
        case.add("judge mean", values["judge_mean"], *at, "judge_mean")
        case.add("label mean", values["label_mean"], *at, "labels_only", "point")
        for key in ("ppi_pp", "ppi_lam1", "ps_jeffreys"):
            ours = (*at, "beside", "post_stratified" if key == "ps_jeffreys" else key)
            for part, there in (("point", "point"), ("lo", "low"), ("hi", "high"), ("lam", "lam"), ("se_ddof1", "se")):
                case.add(f"{key} {part}", values.get(key, {}).get(part), *ours, there)
        for verdict, counts in values.get("ps_jeffreys", {}).get("cells", {}).items():
            for place, count in enumerate(counts):
                case.add(f"cell {verdict} {place}", count, *at, "cells", verdict, place)
        inverted = values.get("rogan_gladen", {})
        case.add("rogan_gladen point", inverted.get("point"), *at, "beside", "rogan_gladen", "point")
        for end, limit in zip(("low", "high"), inverted.get("lee_ci", (None, None)), strict=True):
            case.add(f"rogan_gladen {end}", limit, *at, "beside", "rogan_gladen", end)
        names = {"sens": "sensitivity", "spec": "specificity", "m1": "positive", "m0": "negative"}
        for theirs, name_here in names.items():
            case.add(name_here, inverted.get(theirs), *at, "known_judge", name_here)
        case.add("share of unlabelled", inverted.get("p_unlabelled"), *at, "unlabelled_share")
        yield case


def corrected_command(name: str) -> tuple[str, tuple[str, ...], str | None]:
    """File, options and the judge's name; None for the only one."""
    source, _, judge = name.partition("_")
    if source == "llmrubric":
        options = list(llmrubric_options(judge.removesuffix("_expected")))
        expected = "list_sum([i * probs[i] for i in [1, 2, 3, 4]]) / list_sum(probs)"
        score = f"CASE WHEN judge_type = 'human' THEN score ELSE {expected} END"
        return "scores_llmrubric.jsonl", (*options, "--score", score, "--takes", "mean"), None
    if source == "wildbench":
        return "scores_wildbench.jsonl", ("--human", "gpt-4-turbo-2024-04-09@v2.0522"), "gpt-4o-2024-05-13@v2.0522"
    if source == "nq301":
        return "scores_nq301.jsonl", ("--human", "human-final"), judge
    return "scores_triviaqa_umass.jsonl", ("--human", "HumanJudgement"), judge


FILES = {
    "nq301": "scores_nq301.jsonl",
    "triviaqa": "scores_triviaqa_umass.jsonl",
    "triviaqa_ppi": "scores_triviaqa_umass.jsonl",
    "wildbench": "scores_wildbench.jsonl",
}


def clustered_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Means with items of one question together."""
    for name, values in oracle["clustered_se"].items():
        source, _, rater = name.partition("_")
        case = Case(f"clustered {name}", FILES[source], ())
        at: tuple[str | int, ...] = ("raters", f"name={rater}")
        case.add("n", values["n"], *at, "n")
        case.add("questions", values["clusters"], *at, "questions")
        case.add("mean", values["mean"], *at, "mean")
        for error in ("cr0", "cr1", "iid", "miller"):
            case.add(f"se {error}", values[f"se_{error}"], *at, "se", error)
        for end, limit in enumerate(values["ci_cr1_t"]):
            case.add(f"limit {end}", limit, *at, "t_interval", end, tolerance=T_TOLERANCE)
        yield case


def paired_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Two systems on the same questions; the first row of a question and system counts."""
    system = "split_part(split_part(item, ':', 3), '#', 1)"
    once = ("--system", system, "--item", f"split_key || ':' || {system}")
    cases: dict[tuple[str, str, str], Case] = {}
    for name, values in oracle["paired"].items():
        source, *rest = name.split("|")
        first, second = rest[-2:]
        options = (*once, "--compare", first, second)
        if source == "triviaqa_ppi":
            labels = ("--labels", "random", "--labelled", hashed("split_key", 0.4), "--pool", "rated")
            case = Case(f"paired {name}", FILES[source], (*options, "--human", "HumanJudgement", *labels))
            add_labelled_difference(case, values)
            yield case
            continue
        case = cases.setdefault(
            (source, first, second), Case(f"paired {source} {first} {second}", FILES[source], options)
        )
        add_difference(case, rest[0], values)
    yield from cases.values()


def add_difference(case: Case, rater: str, values: Mapping[str, Any]) -> None:
    """Interval and tests by one rater."""
    at: tuple[str | int, ...] = ("comparison", "raters", f"name={rater}")
    names = {"n": "questions", "diff": "difference", "n10": "better", "n01": "worse", "corr": "correlation", "p": "t_p"}
    names |= {"se": "se", "mcnemar_exact_p": "mcnemar_exact_p", "mcnemar_midp": "mcnemar_mid_p"}
    for theirs, ours in names.items():
        case.add(f"{rater} {theirs}", values.get(theirs), *at, ours)
    for end, limit in zip(("low", "high"), values["t_ci"], strict=True):
        case.add(f"{rater} {end}", limit, *at, "interval", end, tolerance=T_TOLERANCE)


def add_labelled_difference(case: Case, values: Mapping[str, Any]) -> None:
    """GPT-4 as the judge, labels of some questions."""
    at: tuple[str | int, ...] = ("comparison", "corrected", "judge=GPT-4")
    case.add("N", values["N"], *at, "corrected", "items")
    case.add("n", values["n"], *at, "corrected", "labels")
    case.add("judge difference", values["judge_diff"], *at, "judge_mean")
    case.add("human difference", values["human_diff_all"], *at, "human", "mean")
    for theirs, ours in (("ppi_point", "point"), ("ppi_lo", "low"), ("ppi_hi", "high")):
        case.add(theirs, values[theirs], *at, "beside", "ppi_pp", ours)


# Votes, juries, length.

JUDGE_AND_ORDER = "judge || '|' || \"order\""
AMEL = "NOT api_error AND preference IS NOT NULL"


def position_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Both orders of a pair, and (amel) single votes of judges in two regimes."""
    cases = {
        source: Case(f"position {source}", f"pairwise_{source}_votes.jsonl", ("--votes", "--gold", "gold", *more))
        for source, more in {
            "llmbar": (),
            "judgebench": (),
            "autoj": (),
            "amel": ("--judge", "judge || '|' || regime", "--where", AMEL),
        }.items()
    }
    pairs = {"pairs_with_null": "with_null", "pairs_with_tie": "with_tie", "pairs_both_decisive": "decisive"}
    same = ("consistent", "first_both", "second_both", "position_bias", "first_shown_rate", "sign_test_p")
    pairs |= {name: name for name in (*same, "accuracy_both_orders", "accuracy_mean_of_orders")}
    for name, values in oracle["position"].items():
        source, _, judge = name.partition("|")
        case, at = cases[source], ("votes", f"judge={judge}")
        for theirs, ours in pairs.items():
            if "votes" not in values:
                case.add(f"{judge} {theirs}", values[theirs], *at, "both_orders", ours)
        share = (*at, "both_orders", "consistency") if "consistency" in values else (*at, "all_votes", "first_shown")
        case.add(f"{judge} share", values.get("consistency", values["first_shown_rate"]), *share, "value")
        limits = values.get("consistency_wilson") or values["wilson"]
        for end, limit in zip(("low", "high"), limits, strict=True):
            case.add(f"{judge} share {end}", limit, *share, end)
        if "votes" in values:
            case.add(f"{judge} votes", values["votes"], *at, "all_votes", "votes")
            case.add(f"{judge} first shown", values["first_shown"], *share, "n")
            case.add(f"{judge} accuracy", values["accuracy"], *at, "all_votes", "accuracy")
            for order, counts in values["by_order"].items():
                for slot, count in counts.items():
                    case.add(f"{judge} {order} {slot}", count, *at, "all_votes", "by_order", order, slot)
    yield from (case for case in cases.values() if case.expected)


def board_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Strengths from scores of one judge, or from pairs of scores whose systems have two names."""
    system = "split_part(split_part(item, ':', 3), '#', 1)"
    once = ("--system", system, "--item", f"split_key || ':' || {system}")
    merged = {"llama": "llama-13b", "vicuna-13b-20230322-new-hp-fp16": "vicuna-13b-new-hp"}
    pair = f"CASE {{0}} {' '.join(f'WHEN {one!r} THEN {name!r}' for one, name in merged.items())} ELSE {{0}} END"
    first, second = (pair.format(f"split_part(judged.pair, '_', {place})") for place in (1, 2))
    lead, whole = "parsed_by_source[1] - parsed_by_source[2]", "list_min(parsed_by_source) >= 0"
    names = ("--system-a", first, "--system-b", second, "--item", "id", "--judge", "'gpt-4'")
    reviews = (*names, "--score", lead, "--where", whole)
    tengu = "judge = 'llmjudge-llama33' AND item LIKE 'shaberi:tengu:%'"
    commands = {
        "triviaqa_GPT-4": (FILES["triviaqa"], (*once, "--where", "judge = 'GPT-4'")),
        "triviaqa_human": (FILES["triviaqa"], (*once, "--where", "judge = 'HumanJudgement'")),
        "wildbench_4o": (FILES["wildbench"], (*once, "--where", "judge = 'gpt-4o-2024-05-13@v2.0522'")),
        "shaberi_tengu_llama33": ("scores_shaberi.jsonl", (*once, "--min-questions", "10", "--where", tengu)),
        "vicuna_gpt4_reviews": ("judge_outputs_vicuna_gpt4.jsonl", reviews),
    }
    for name, values in oracle["bradley_terry"].items():
        file, options = commands[name]
        case = Case(f"board {name}", file, options, command="leaderboard")
        case.add("systems", len(values["systems"]), "standings", "len")
        for rank, one in enumerate(values["ranking"], 1):
            at = ("standings", f"system={one}")
            case.add(f"{one} rank", rank, *at, "rank")
            case.add(f"{one} strength", values["log_strength"][one], *at, "strength", tolerance=BOARD_TOLERANCE)
            case.add(f"{one} se", values["se_centred"][one], *at, "se_fisher", tolerance=BOARD_TOLERANCE)
        for place, row in enumerate(values["wins"]):
            for other, won in enumerate(row):
                case.add(f"wins {place} {other}", won, "wins", place, other)
        yield case


def jury_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Majority and Dawid-Skene against each judge alone."""
    decisive = "preference IN ('A>B', 'B>A')"
    every = "judge || '|' || regime || '|' || \"order\" || '|' || repetition || '|' || split_part(id, ':', 2)"
    gold = ("--gold", "gold")
    commands = {
        "llmbar": ("pairwise_llmbar_votes.jsonl", ("--judge", JUDGE_AND_ORDER, *gold, "--where", decisive)),
        "judgebench": ("pairwise_judgebench_votes.jsonl", ("--judge", JUDGE_AND_ORDER, *gold, "--where", decisive)),
        "autoj_two_orders": ("pairwise_autoj_votes.jsonl", ("--judge", JUDGE_AND_ORDER, *gold)),
        "amel": ("pairwise_amel_votes.jsonl", ("--judge", every, *gold, "--where", f"{AMEL} AND {decisive}")),
        "triviaqa_llm9": (
            FILES["triviaqa"],
            ("--human", "HumanJudgement", "--where", "judge NOT IN ('EM', 'Contains')"),
        ),
    }
    for name, values in oracle["jury"].items():
        file, options = commands[name]
        case = Case(f"jury {name}", file, ("--jury", *options))
        for theirs, ours in (("tasks", "items"), ("votes", "votes"), ("mean_single", "mean_single")):
            case.add(theirs, values[theirs], "jury", ours)
        case.add("workers", values["workers"], "jury", "judges", "len")
        case.add("best", values["best_single"][1], "jury", "best_single", "accuracy")
        case.add("majority", values["majority_accuracy"], "jury", "majority", "accuracy")
        case.add("ties", values["majority_ties"], "jury", "majority", "ties")
        at = ("jury", "dawid_skene")
        case.add("Dawid-Skene", values["dawid_skene_em_accuracy"], *at, "accuracy")
        case.add("likelihood", values["dawid_skene_em_loglik"], *at, "log_likelihood")
        for label, share in values["dawid_skene_em_prior"].items():
            case.add(f"prior {label}", share, *at, "prior", label, tolerance=PRIOR_TOLERANCE)
        yield case


def length_cases(oracle: Mapping[str, Any]) -> Iterator[Case]:
    """Do judges give more to what is longer?"""
    trio = [word for name in ("athenev2", "llama33", "tulu405") for word in ("--reference", f"llmjudge-{name}")]
    chars = ("--length", "answer_chars")
    cases: dict[str, Case] = {}
    for name, values in oracle["length_bias"].items():
        source, _, judge = name.partition("|")
        if source == "llmbar_pairwise":
            ratio = "greatest(length(response_a), 1) / greatest(length(response_b), 1)"
            options = ("--votes", "--gold", "gold", "--length", ratio)
            made = Case(f"length {source}", "pairwise_llmbar_votes.jsonl", options, texts="pairwise_llmbar_items.jsonl")
        elif source.startswith("shaberi"):
            where = ("--where", f"item LIKE 'shaberi:{source.removeprefix('shaberi_')}:%'")
            made = Case(f"length {source}", "scores_shaberi.jsonl", (*chars, *where, *trio))
        else:
            made, judge = Case(f"length {source}", FILES["wildbench"], chars), "gpt-4o-2024-05-13@v2.0522"
        case = cases.setdefault(source, made)
        at = ("length", f"judge={judge}")
        case.add(f"{judge} n", values["n"], *at, "n")
        names = {"coef_dlnlen": ("length", "value"), "coef_gold": ("truth", "value")}
        names |= {"se_model": ("length", "se"), "se_cluster_item": ("length", "se_clustered")}
        names |= {"slope": ("length", "value"), "intercept": ("intercept", "value"), "se_hc3": ("length", "se_hc3")}
        for theirs, ours in names.items():
            case.add(f"{judge} {theirs}", values.get(theirs), *at, "coefficients", *ours)
    yield from cases.values()


def all_cases(oracle: Mapping[str, Any]) -> list[Case]:
    """Every command of every section."""
    ratings = (binary_cases, calibration_cases, agreement_cases, corrected_cases, clustered_cases, paired_cases)
    votes = (position_cases, board_cases, jury_cases, length_cases)
    return [case for section in (*ratings, *votes) for case in section(oracle)]


# Running and comparing.


def check(case: Case, data: Path) -> list[Checked]:
    """Run the command and look every value up."""
    with tempfile.TemporaryDirectory() as scratch:
        file = data / case.file
        if case.texts is not None:
            file = beside_texts(file, data / case.texts, Path(scratch))
        document = document_of((case.command, str(file), *case.options))
    return [Checked(one, look_up(document, one.path)) for one in case.expected]


def beside_texts(votes: Path, texts: Path, scratch: Path) -> Path:
    """Votes with their items' columns in one table."""
    joined = scratch / "joined.parquet"
    query = f"""
        COPY (SELECT votes.*, texts.* EXCLUDE (id, gold, split_key) FROM '{votes}' AS votes
            JOIN '{texts}' AS texts ON texts.id = votes.item) TO '{joined}'"""  # noqa: S608 - our own paths
    duckdb.execute(query)
    return joined


@lru_cache(maxsize=4)
def document_of(arguments: tuple[str, ...]) -> Any:
    """What the command prints with --json; a command that fails is a case that fails with its own words."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = mixseek([*arguments, "--json"])
    if code:
        raise SystemExit(f"mixseek {' '.join(arguments)}: exit {code}: {err.getvalue()}")
    return json.loads(out.getvalue())


def look_up(document: Any, path: Sequence[str | int]) -> float | None:
    """Down the path; `name=x` is the entry of a list whose name is x, `len` its length. None where there is nothing."""
    for step in path:
        if document is None:
            return None
        if step == "len":
            document = len(document)
        elif isinstance(document, list) and isinstance(step, str):
            key, _, wanted = step.partition("=")
            document = next((entry for entry in document if str(entry[key]) == wanted), None)
        elif isinstance(document, list) and isinstance(step, int):
            document = document[step] if step < len(document) else None
        else:
            document = document.get(step)
    return None if document is None else float(document)


def main(arguments: Sequence[str]) -> int:
    """0 when every value holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--oracle", type=Path, default=None)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(arguments)
    file = options.oracle or options.data / ORACLE
    if not file.is_file():
        print(f"{file} is not there: nothing to compare with")
        return 0
    cases = [case for case in all_cases(json.loads(file.read_text())) if options.only in case.name]
    checked: list[Checked] = []
    for case in cases:
        found = check(case, options.data)
        checked += found
        if options.show:
            held = sum(one.holds for one in found)
            print(f"{held}/{len(found)} mixseek {case.command} {case.file} {' '.join(case.options)}")
        for one in found:
            if not one.holds:
                print(f"  {one.expected.name}: {one.found} instead of {one.expected.value}")
    holding = sum(one.holds for one in checked)
    worst = max((one.error for one in checked), default=0.0)
    print(f"{holding} of {len(checked)} values hold, by {len(cases)} commands; worst error {worst:.1e}")
    return 0 if holding == len(checked) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
