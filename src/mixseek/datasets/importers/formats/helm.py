"""Runs of HELM (crfm-helm): scenario_state.json has the responses, per_instance_stats.json beside it the scores."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_item, in_object
from mixseek.datasets.importers.reading.json_stream import walk_file
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import with_options
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.errors import DatasetError

_STATE, _STATS = "scenario_state.json", "per_instance_stats.json"
# What HELM counts beside what it scores.
_BOOKKEEPING = re.compile(
    r"^(num_|training_|inference_|finish_reason_|batch_size$|max_prob$|logprob|bits_per_byte|perplexity|prompt_truncated|"
    r"predicted_index|estimated_)"
)


# The state of a run, and the files that stand beside it.
_SIGNATURES = (
    in_object("request_states", "adapter_spec"),
    in_object("metric_specs", "scenario_spec", "adapter_spec"),
    in_item("instance_id", "stats"),
    in_item("sum_squared", "name", "count", "sum"),
)


def open_helm(sniffed: Sniffed) -> Log:
    """The scores are joined from the file beside it."""
    path = sniffed.path
    if ("request_states",) not in sniffed.outline:
        beside = path.parent / _STATE
        hint = f"give {beside} instead" if beside.is_file() else f"{_STATE} of the same run is needed"
        raise DatasetError(f"{path}: a file of a HELM run that holds no responses; {hint}")
    method = as_text(sniffed.value("adapter_spec", "method")) or ""
    if "separate" in method:
        raise DatasetError(
            f"{path}: a HELM run with the method {method}: it asks about each choice by itself, so there is no response"
        )
    stats = path.parent / _STATS
    companions = (stats,) if stats.is_file() else ()
    notices = () if companions else (f"{_STATS} is not beside it, so there are no scores",)
    return Log(partial(read_helm, sniffed, stats if companions else None), companions=companions, notices=notices)


def read_helm(sniffed: Sniffed, stats: Path | None, notices: Notices) -> Iterator[LoggedSample]:
    scores = {} if stats is None else read_helm_scores(stats, notices)
    task = as_text(sniffed.value("adapter_spec", "model"))
    run = sniffed.path.parent.name.partition(":")[0]
    for number, (_, state) in enumerate(walk_file(sniffed.path, {("request_states",): True}, notices), 1):
        state = as_table(state)
        instance, result = as_table(state.get("instance")), as_table(state.get("result"))
        if not instance:
            raise DatasetError(f"{sniffed.path}: request state {number}: a HELM state without `instance`")
        trial, perturbation = trial_of(state), as_text(as_table(instance.get("perturbation")).get("name"))
        completions = as_rows(result.get("completions"))
        mapping = as_table(state.get("output_mapping"))
        answers = [
            str(as_table(reference.get("output")).get("text"))
            for reference in as_rows(instance.get("references"))
            if "correct" in (as_text(reference.get("tags")) or "")
        ]
        letters = {str(text): letter for letter, text in mapping.items()}
        question = as_text(as_table(instance.get("input")).get("text")) or ""
        error = as_text(result.get("error")) or "the request failed" if result.get("success") is False else None
        for index, completion in enumerate(completions or [{}]):
            yield LoggedSample(
                question_id=as_text(instance.get("id")) or "",
                question=with_options(question, map(str, mapping.values())),
                response=as_text(completion.get("text")),
                error=error,
                targets=tuple(letters.get(answer, answer) for answer in answers),
                target_model=as_text(as_table(state.get("request")).get("model")) or task,
                variant=perturbation,
                prompt_variant=perturbation,
                task_name=run,
                repeat=trial * max(len(completions), 1) + index + 1,
                stop_reason=as_text(as_table(completion.get("finish_reason")).get("reason")),
                scores=scores.get((as_text(instance.get("id")), trial, perturbation), {}) if index == 0 else {},
                metadata=as_table(instance.get("extra_data")),
            )


def trial_of(row: Mapping[str, Any]) -> int:
    """The number of the trial, from 0."""
    trial = row.get("train_trial_index")
    return trial if isinstance(trial, int) else 0


def read_helm_scores(path: Path, notices: Notices) -> dict[tuple[Any, ...], dict[str, LoggedScore]]:
    """Scores by instance, trial and perturbation; what HELM counts beside scores is left out."""
    scores: dict[tuple[Any, ...], dict[str, LoggedScore]] = {}
    for _, instance in walk_file(path, {(): True}, notices):
        table = as_table(instance)
        perturbation = as_text(as_table(table.get("perturbation")).get("name"))
        instance_scores = scores.setdefault((as_text(table.get("instance_id")), trial_of(table), perturbation), {})
        for stat in as_rows(table.get("stats")):
            name = as_text(as_table(stat.get("name")).get("name")) or ""
            if name and not _BOOKKEEPING.match(name) and stat.get("count"):
                instance_scores[name] = read_grade(stat.get("mean"))
    return scores


FORMAT = LogFormat("helm", "HELM run", _SIGNATURES, open_helm)
