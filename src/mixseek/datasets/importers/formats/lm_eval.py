"""Samples of lm-eval (EleutherAI): a line for each document and each filter."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, Summary, in_object, in_row
from mixseek.datasets.importers.reading.json_stream import parse_json
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed, sniff
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.messages import last_user_text
from mixseek.datasets.importers.samples.question_names import own_id
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.values import as_table, as_text
from mixseek.errors import DatasetError

_DATED = re.compile(r"^samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+$")


_SIGNATURES = (in_row("filtered_resps", "resps", "doc_id", "doc", "arguments", "target"),)
_SUMMARY_NAMES = ("lm_eval_version", "results")


def open_lm_eval(sniffed: Sniffed) -> Log:
    """The file `results_*.json` of the same run stands beside it and knows model and version."""
    path = sniffed.path
    dated = _DATED.match(path.name.removesuffix(".jsonl"))
    task = dated[1] if dated is not None else None
    results = next(
        iter(sorted(path.parent.glob(f"results_{path.name.rpartition('_')[2].removesuffix('.jsonl')}.json"))), None
    )
    results_file = sniff(results) if results is not None and dated is not None else None
    model = version = None
    if results_file is not None and results_file.shape is Shape.OBJECT:
        model, version = as_text(results_file.value("model_name")), as_text(results_file.value("lm_eval_version"))
    companions = () if results_file is None else (results_file.path,)
    return Log(partial(read_lm_eval, sniffed, task, model), version, companions=companions)


def read_lm_eval(sniffed: Sniffed, task: str | None, model: str | None, notices: Notices) -> Iterator[LoggedSample]:
    """Documents in the order of their first line; scores of all filters are collected before."""
    scores: dict[str | None, dict[str, LoggedScore]] = {}
    for _, row in sniffed.rows([]):
        of_document = scores.setdefault(as_text(row.get("doc_id")), {})
        for metric in metrics_of(row):
            of_document[f"{metric},{row.get('filter', 'none')}"] = read_grade(row[metric])
    shared = 0
    for number, row in sniffed.rows(notices):
        document_scores = scores.pop(as_text(row.get("doc_id")), None)
        if document_scores is None:
            # Another filter's line of a document that was read already.
            continue
        if not isinstance(row.get("doc"), Mapping) or "resps" not in row:
            raise DatasetError(f"{sniffed.path}: line {number}: an lm-eval sample without `doc` or `resps`")
        samples = list(read_document(row, document_scores, task, model))
        shared += len(samples) > 1 and bool(document_scores)
        yield from samples
    if shared:
        notices.append(
            f"{shared:,} documents have several responses and one score, which their filter took from the first; "
            "it is kept with that one"
        )


def read_document(
    row: Mapping[str, Any], scores: Mapping[str, LoggedScore], task: str | None, model: str | None
) -> Iterator[LoggedSample]:
    """Each of the repeated responses; of loglikelihoods, the choice that is most likely."""
    document = as_table(row.get("doc"))
    requests = requests_of(row.get("arguments"))
    prompt = prompt_text(requests[0].get("arg_0")) if requests else ""
    common: dict[str, Any] = {
        "question_id": own_id(document, row.get("doc_id")),
        "target_model": model,
        "task_name": task,
        "metadata": {"doc": document},
    }
    likelihoods = read_likelihoods(row.get("resps"))
    if likelihoods:
        choices = [str(as_text(request.get("arg_1")) or "").strip() for request in requests]
        best = max(range(len(likelihoods)), key=likelihoods.__getitem__)
        index = int(row["target"]) if str(row.get("target")).isdigit() else -1
        target = choices[index] if 0 <= index < len(choices) else as_text(row.get("target"))
        yield LoggedSample(
            question=prompt or question_text(document),
            response=choices[best] if best < len(choices) else None,
            targets=target_texts(target),
            scores=scores,
            **common,
        )
        return
    responses = row.get("resps")
    responses = responses[0] if isinstance(responses, list) and responses else []
    for repeat, response in enumerate(responses if isinstance(responses, list) else [responses], 1):
        yield LoggedSample(
            question=prompt or question_text(document),
            response=as_text(response),
            targets=target_texts(row.get("target")),
            repeat=repeat,
            scores=scores if repeat == 1 else {},
            **common,
        )


def metrics_of(row: Mapping[str, Any]) -> list[str]:
    """Their names stand in `metrics`; older versions have only their values, among what every row has."""
    named = row.get("metrics")
    if isinstance(named, list):
        return [name for name in named if isinstance(name, str) and name in row]
    return [name for name, value in row.items() if isinstance(value, int | float) and name != "doc_id"]


def requests_of(arguments: Any) -> list[Mapping[str, Any]]:
    """Requests by name, or in older versions a list of lists."""
    if isinstance(arguments, list):
        pairs = [argument if isinstance(argument, list) else [argument] for argument in arguments]
        return [{f"arg_{index}": part for index, part in enumerate(pair)} for pair in pairs]
    return [as_table(request) for request in as_table(arguments).values()]


def read_likelihoods(responses: Any) -> list[float]:
    """One number for each choice: `[[["-0.26", "False"]], …]`; nothing where the responses are texts."""
    likelihoods = []
    for response in responses if isinstance(responses, list) else []:
        pair = response[0] if isinstance(response, list) and response else None
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            return []
        try:
            likelihoods.append(float(pair[0]))
        except (TypeError, ValueError):
            return []
    return likelihoods


def prompt_text(argument: Any) -> str:
    """A text, or the JSON text of messages inside a list, of which the last question counts."""
    if isinstance(argument, list) and argument:
        argument = argument[0]
    if isinstance(argument, str) and argument.lstrip().startswith("[{"):
        try:
            return last_user_text(parse_json(argument)) or argument
        except ValueError:
            return argument
    return as_text(argument) or ""


FORMAT = LogFormat("lm_eval", "lm-eval samples", _SIGNATURES, open_lm_eval)
SUMMARY = Summary(
    "results of lm-eval",
    (in_row(*_SUMMARY_NAMES), in_object(*_SUMMARY_NAMES)),
    "give samples_*.jsonl, which lm-eval writes with --log_samples",
)
