"""Logs of evaluation harnesses: Inspect, lm-eval samples, HELM runs, EvalScope reviews and predictions."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.answers import calls_of, describe_calls
from mixseek.datasets.importers.reading import (
    Member,
    Shape,
    Sniffed,
    is_cut_zip,
    list_members,
    parse_json,
    read_members,
    sniff,
    walk_file,
)
from mixseek.datasets.importers.record import (
    Log,
    LogFormat,
    LoggedSample,
    LoggedScore,
    Notices,
    as_rows,
    as_table,
    as_text,
    content_text,
    conversation_text,
    last_user_text,
    question_text,
    read_grade,
    role_of,
    target_texts,
    with_options,
)
from mixseek.errors import DatasetError

# Logs of evaluation harnesses: lm-eval samples, HELM runs, EvalScope reviews and predictions.

_ID_KEYS = ("id", "question_id", "qid", "sample_id", "idx")


def own_id(table: Mapping[str, Any], otherwise: Any) -> str:
    """The question's own id, where it has one that can be written as text."""
    found = next((table[key] for key in _ID_KEYS if isinstance(table.get(key), str | int)), otherwise)
    return str(found)


# lm-eval (EleutherAI): a line for each document and each filter.

_DATED = re.compile(r"^samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+$")


def is_lm_eval(sniffed: Sniffed) -> bool:
    return sniffed.is_rows() and sniffed.has("doc_id", "doc", "arguments", "resps", "filtered_resps", "target")


def open_lm_eval(sniffed: Sniffed) -> Log:
    """The file `results_*.json` of the same run stands beside it and knows model and version."""
    path = sniffed.path
    dated = _DATED.match(path.name.removesuffix(".jsonl"))
    task = dated[1] if dated is not None else None
    results = next(
        iter(sorted(path.parent.glob(f"results_{path.name.rpartition('_')[2].removesuffix('.jsonl')}.json"))), None
    )
    told = sniff(results) if results is not None and dated is not None else None
    model = version = None
    if told is not None and told.shape is Shape.OBJECT:
        model, version = as_text(told.value("model_name")), as_text(told.value("lm_eval_version"))
    companions = () if told is None else (told.path,)
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
        found = scores.pop(as_text(row.get("doc_id")), None)
        if found is None:
            # Another filter's line of a document that was read already.
            continue
        if not isinstance(row.get("doc"), Mapping) or "resps" not in row:
            raise DatasetError(f"{sniffed.path}: line {number}: an lm-eval sample without `doc` or `resps`")
        samples = list(read_document(row, found, task, model))
        shared += len(samples) > 1 and bool(found)
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
        choices = [str(as_text(one.get("arg_1")) or "").strip() for one in requests]
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
    """By name, or in older versions a list of lists."""
    if isinstance(arguments, list):
        pairs = [one if isinstance(one, list) else [one] for one in arguments]
        return [{f"arg_{index}": part for index, part in enumerate(pair)} for pair in pairs]
    return [as_table(one) for one in as_table(arguments).values()]


def read_likelihoods(responses: Any) -> list[float]:
    """One number for each choice: `[[["-0.26", "False"]], …]`; nothing where the responses are texts."""
    likelihoods = []
    for one in responses if isinstance(responses, list) else []:
        pair = one[0] if isinstance(one, list) and one else None
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


# HELM (crfm-helm): scenario_state.json has the responses, per_instance_stats.json beside it the scores.

_STATE, _STATS = "scenario_state.json", "per_instance_stats.json"
# What HELM counts beside what it scores.
_BOOKKEEPING = re.compile(
    r"^(num_|training_|inference_|finish_reason_|batch_size$|max_prob$|logprob|bits_per_byte|perplexity|prompt_truncated|"
    r"predicted_index|estimated_)"
)


def is_helm(sniffed: Sniffed) -> bool:
    """The state of a run, or a file that stands beside it."""
    if sniffed.shape is Shape.OBJECT:
        outline = set(sniffed.outline)
        is_specification = {("scenario_spec",), ("adapter_spec",), ("metric_specs",)} <= outline
        return {("adapter_spec",), ("request_states",)} <= outline or is_specification
    is_statistic = sniffed.has("name", "count", "sum", "sum_squared")
    return sniffed.shape is Shape.ITEMS and (sniffed.has("instance_id", "stats") or is_statistic)


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
            str(as_table(one.get("output")).get("text"))
            for one in as_rows(instance.get("references"))
            if "correct" in (as_text(one.get("tags")) or "")
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
    """From 0."""
    trial = row.get("train_trial_index")
    return trial if isinstance(trial, int) else 0


def read_helm_scores(path: Path, notices: Notices) -> dict[tuple[Any, ...], dict[str, LoggedScore]]:
    """By instance, trial and perturbation; what HELM counts beside scores is left out."""
    scores: dict[tuple[Any, ...], dict[str, LoggedScore]] = {}
    for _, instance in walk_file(path, {(): True}, notices):
        one = as_table(instance)
        perturbation = as_text(as_table(one.get("perturbation")).get("name"))
        found = scores.setdefault((as_text(one.get("instance_id")), trial_of(one), perturbation), {})
        for stat in as_rows(one.get("stats")):
            name = as_text(as_table(stat.get("name")).get("name")) or ""
            if name and not _BOOKKEEPING.match(name) and stat.get("count"):
                found[name] = read_grade(stat.get("mean"))
    return scores


# EvalScope (ModelScope): reviews hold responses and scores, predictions the responses only.


def is_evalscope(sniffed: Sniffed) -> bool:
    is_review = sniffed.has("index", "sample_score", "target")
    is_prediction = sniffed.has("index", "model_output", "messages")
    is_report = sniffed.has("schema_version", "dataset_name", "model_name", "metrics")
    return sniffed.is_rows() and (is_review or is_prediction or is_report)


def open_evalscope(sniffed: Sniffed) -> Log:
    """A report holds numbers only."""
    if not sniffed.has("index"):
        raise DatasetError(f"{sniffed.path}: an EvalScope report, which holds no responses; give a file of reviews/")
    is_review = sniffed.has("sample_score")
    # A judge that failed says nothing of its scorer's name: the first review that has a score does.
    scorer = next((name for _, row in sniffed.rows([]) if (name := main_scorer(row))), "judge")
    task = sniffed.path.name.partition(".")[0]
    beside = predictions_beside(sniffed.path) if is_review else None

    def samples(notices: Notices) -> Iterator[LoggedSample]:
        count, last = 0, -1
        predicted = {} if beside is None else read_predictions(beside)
        others = 0
        for number, row in sniffed.rows(notices):
            index = row.get("index")
            count, last = count + 1, max(last, index) if isinstance(index, int) else last
            if not isinstance(row.get("sample_score", row.get("model_output")), Mapping):
                raise DatasetError(
                    f"{sniffed.path}: line {number}: an EvalScope row without `sample_score` or `model_output`"
                )
            if not is_review:
                yield read_evalscope_prediction(row, task)
                continue
            sample = read_evalscope_review(row, scorer, task)
            output = predicted.get(as_text(index))
            if output is None or output.text in (sample.response, last_answer(row)):
                yield (
                    sample
                    if output is None
                    else replace(sample, stop_reason=output.stop, error=output.error, withheld=output.withheld)
                )
            else:
                others += 1
                yield sample
        if others:
            notices.append(
                f"{others:,} predictions in {describe_path(beside)} have another text than their review, so they are "
                "not of this run: how those outputs ended is not known"
            )
        if last >= count:
            lost = last + 1 - count
            notices.append(
                f"{lost:,} of {last + 1:,} indexes have no row: EvalScope keeps nothing of a request that failed"
            )

    if beside is not None:
        return Log(samples, companions=(beside,))
    unknown = "predictions/ with the same file is not beside it, so nothing says which outputs a filter stopped"
    return Log(samples, notices=(unknown,) if is_review else ())


@dataclass(frozen=True, slots=True)
class PredictedOutput:
    """How a model's output ended, as EvalScope's file of predictions has it."""

    text: str | None
    stop: str | None
    error: str | None
    withheld: str | None


def predictions_beside(path: Path) -> Path | None:
    """EvalScope writes reviews/MODEL/NAME.jsonl and predictions/MODEL/NAME.jsonl."""
    folders = list(path.absolute().parts)
    places = [place for place, name in enumerate(folders[:-1]) if name == "reviews"]
    if not places:
        return None
    folders[places[-1]] = "predictions"
    beside = Path(*folders)
    return beside if beside.is_file() else None


def describe_path(path: Path | None) -> str:
    """Short: the folders above are those of the review."""
    return "" if path is None else "/".join(path.parts[-3:])


def read_predictions(path: Path) -> dict[str | None, PredictedOutput]:
    """By index; a file that is none of EvalScope's says nothing."""
    sniffed = sniff(path)
    if sniffed is None or not sniffed.has("index", "model_output"):
        return {}
    return {as_text(row.get("index")): read_output(as_table(row.get("model_output"))) for _, row in sniffed.rows([])}


def read_output(output: Mapping[str, Any]) -> PredictedOutput:
    choice = as_table(next(iter(as_rows(output.get("choices"))), {}))
    message = as_table(choice.get("message"))
    calls = calls_of(message)
    return PredictedOutput(
        content_text(message.get("content")),
        as_text(choice.get("stop_reason")),
        as_text(output.get("error")),
        describe_calls(calls) if calls else None,
    )


def last_answer(row: Mapping[str, Any]) -> str | None:
    """What the assistant said last in the messages of a review."""
    answers = [one for one in as_rows(row.get("messages")) if role_of(one) == "assistant"]
    return content_text(answers[-1].get("content")) if answers else None


def main_scorer(row: Mapping[str, Any]) -> str | None:
    """Of a review that was scored as it was to be."""
    score = as_table(as_table(row.get("sample_score")).get("score"))
    return as_text(score.get("main_score_name")) if score.get("status", "success") == "success" else None


def read_evalscope_review(row: Mapping[str, Any], scorer: str, task: str) -> LoggedSample:
    told = as_table(row["sample_score"])
    score, metadata = as_table(told.get("score")), as_table(told.get("sample_metadata"))
    answers = [one for one in as_rows(row.get("messages")) if role_of(one) == "assistant"]
    generation = told.get("generation_index")
    return LoggedSample(
        question_id=own_id(metadata, told.get("group_id", row.get("index"))),
        question=last_user_text(row.get("messages")),
        response=as_text(score.get("prediction")),
        targets=target_texts(row.get("target")),
        target_model=as_text(answers[-1].get("model")) if answers else None,
        task_name=task,
        repeat=generation + 1 if isinstance(generation, int) else None,
        scores=evalscope_scores(score, scorer),
        metadata={**metadata, "extracted_prediction": score.get("extracted_prediction"), "index": row.get("index")},
    )


def evalscope_scores(score: Mapping[str, Any], scorer: str) -> dict[str, LoggedScore]:
    """Where no judge gave a usable verdict, EvalScope fills in other metrics: they are not what was asked for."""
    summary = as_table(score.get("judge_summary"))
    if score.get("status", "success") != "success":
        failures = ", ".join(f"{name} {count}" for name, count in as_table(summary.get("failures")).items())
        why = as_text(summary.get("error")) or f"status {score.get('status')}"
        return {scorer: LoggedScore(None, problem=f"{why} ({failures})" if failures else why)}
    reason = as_text(score.get("explanation"))
    return {name: read_grade(value, reason=reason) for name, value in as_table(score.get("value")).items()}


def read_evalscope_prediction(row: Mapping[str, Any], task: str) -> LoggedSample:
    output = read_output(as_table(row["model_output"]))
    return LoggedSample(
        question_id=own_id(as_table(row.get("metadata")), row.get("index")),
        question=last_user_text(row.get("messages")),
        response=output.text,
        error=output.error,
        withheld=output.withheld,
        target_model=as_text(row.get("model")),
        task_name=task,
        stop_reason=output.stop,
        metadata={**as_table(row.get("metadata")), "index": row.get("index")},
    )


FORMATS = (
    LogFormat("lm_eval", "lm-eval samples", is_lm_eval, open_lm_eval),
    LogFormat("helm", "HELM run", is_helm, open_helm),
    LogFormat("evalscope", "EvalScope log", is_evalscope, open_evalscope),
)


# Logs of Inspect (inspect-ai): `.eval`, a zip with a member for each sample, and the same as one `.json`.

_HEADER, _START = "header.json", "_journal/start.json"
_VERSIONS = (1, 2)
# Inspect's own letters; N is no answer.
_LETTERS: Mapping[Any, tuple[float, bool | None]] = {
    "C": (1.0, True),
    "I": (0.0, False),
    "P": (0.5, None),
    "N": (0.0, False),
}
# What versions before the `reason` field wrote where they could not read the grader's reply, beside the letter I.
_GRADE_NOT_FOUND = "Grade not found in model output"
_ATTACHMENT = "attachment://"


def is_inspect(sniffed: Sniffed) -> bool:
    """A zip with Inspect's members, or an object with its header."""
    if sniffed.shape is Shape.ZIP:
        names = sniffed.names
        return _HEADER in names or _START in names or any(name.startswith("samples/") for name in names)
    return sniffed.shape is Shape.OBJECT and {("version",), ("eval",), ("status",)} <= set(sniffed.outline)


def open_inspect(sniffed: Sniffed) -> Log:
    """Either shape, with the header's word on version, model and task."""
    if sniffed.shape is not Shape.ZIP:
        header = {name: sniffed.value(name) for name in ("version", "status")}
        header["eval"] = {
            name: sniffed.value("eval", name) for name in ("task", "model", "packages", "config", "dataset")
        }
        return log_of(sniffed, header, ("samples",) in sniffed.outline, partial(read_object, sniffed, header))
    members = list_members(sniffed.path)
    found = [member for member in members if member.name in (_HEADER, _START)]
    headers = {member.name: value for member, value in read_members(sniffed.path, found, [])}
    header = dict(as_table(headers.get(_HEADER) or headers.get(_START)))
    samples = [member for member in members if member.name.startswith("samples/")]
    if not header and not samples:
        raise DatasetError(f"{sniffed.path}: an Inspect log with neither {_HEADER} nor {_START}, and without samples")
    if _HEADER not in headers:
        header["status"] = "killed"
    return log_of(sniffed, header, True, partial(read_zip, sniffed, header, samples))


def log_of(sniffed: Sniffed, header: Mapping[str, Any], has_samples: bool, samples: Any) -> Log:
    """With versions, and with what the header says about the end of the run."""
    version, told = header.get("version"), as_table(header.get("eval"))
    if version is not None and version not in _VERSIONS:
        raise DatasetError(
            f"{sniffed.path}: an Inspect log of version {version}; known are {' and '.join(map(str, _VERSIONS))}"
        )
    if not has_samples:
        raise DatasetError(f"{sniffed.path}: an Inspect log without `samples`: only its header was kept")
    status, notices = header.get("status"), []
    if status == "killed":
        notices.append("no header: the run was killed, and the log holds what was written until then")
    elif status != "success":
        notices.append(f"the run ended with status {status!r}")
    if sniffed.shape is Shape.ZIP and is_cut_zip(sniffed.path):
        notices.append("the zip is cut short: its directory is missing, and the members before the cut were read")
    tool = as_text(as_table(told.get("packages")).get("inspect_ai"))
    return Log(samples, tool, as_text(version), notices=tuple(notices))


def read_zip(
    sniffed: Sniffed, header: Mapping[str, Any], members: list[Member], notices: Notices
) -> Iterator[LoggedSample]:
    """Members in the order of the zip, which is the order in which samples ended."""
    count = 0
    for _, sample in read_members(sniffed.path, members, notices):
        count += 1
        yield read_sample(as_table(sample), header)
    tell_missing(header, count, notices)


def read_object(sniffed: Sniffed, header: Mapping[str, Any], notices: Notices) -> Iterator[LoggedSample]:
    """The items of `samples`; the rest of the object is walked over."""
    count = 0
    for _, sample in walk_file(sniffed.path, {("samples",): True}, notices):
        if not isinstance(sample, Mapping):
            # `samples: null`: only the header was kept.
            raise DatasetError(f"{sniffed.path}: an Inspect log whose `samples` are no list of samples")
        count += 1
        yield read_sample(sample, header)
    tell_missing(header, count, notices)


def tell_missing(header: Mapping[str, Any], count: int, notices: Notices) -> None:
    """How many samples the run was to have, where the log says so and has fewer."""
    told = as_table(header.get("eval"))
    ids, epochs = as_table(told.get("dataset")).get("sample_ids"), as_table(told.get("config")).get("epochs")
    planned = len(ids) * (epochs if isinstance(epochs, int) else 1) if isinstance(ids, list) else 0
    if count < planned:
        notices.append(f"{count:,} of {planned:,} planned samples are in the log")


def read_sample(sample: Mapping[str, Any], header: Mapping[str, Any]) -> LoggedSample:
    """A text may stand among the attachments instead; `error` is an error whatever else there is."""
    attachments = as_table(sample.get("attachments"))
    told, output = as_table(header.get("eval")), as_table(resolve(sample.get("output"), attachments))
    given = resolve(sample.get("input"), attachments)
    question = given if isinstance(given, str) else conversation_text(given)
    choices = sample.get("choices")
    error = sample.get("error")
    first = as_table(next(iter(as_rows(output.get("choices"))), {}))
    message = as_table(first.get("message"))
    response = as_text(output.get("completion")) or content_text(message.get("content"))
    calls = calls_of(message)
    is_submitted = was_submitted(response or "", calls)
    withheld = describe_limit(as_table(sample.get("limit"))) or (
        describe_calls(calls) if calls and not is_submitted else None
    )
    scores = as_table(resolve(sample.get("scores"), attachments))
    if not scores and isinstance(sample.get("score"), Mapping):
        # Version 1 had one scorer, without a name.
        scores = {"score": sample["score"]}
    return LoggedSample(
        question_id=as_text(sample.get("id")) or "",
        question=with_options(question, map(str, choices)) if isinstance(choices, list) else question,
        response=response,
        error=None if error is None else as_text(as_table(error).get("message")) or "an error without a message",
        withheld=withheld,
        is_final=is_submitted or not calls,
        targets=target_texts(resolve(sample.get("target"), attachments)),
        target_model=as_text(told.get("model")),
        task_name=as_text(told.get("task")),
        repeat=sample["epoch"] if isinstance(sample.get("epoch"), int) else None,
        stop_reason=as_text(first.get("stop_reason")),
        scores=dict(score for name, one in scores.items() for score in read_score(name, as_table(one))),
        metadata=as_table(sample.get("metadata")),
    )


def was_submitted(response: str, calls: list[Mapping[str, Any]]) -> bool:
    """Agents of Inspect hand in their answer by a call (`submit`), and the completion is it, or ends with it."""
    given = [value for call in calls for value in as_table(call.get("arguments")).values() if isinstance(value, str)]
    answers = [text.strip() for text in given if text.strip()]
    return any(response.strip() == text or response.rstrip().endswith(f"\n\n{text}") for text in answers)


def describe_limit(limit: Mapping[str, Any]) -> str | None:
    """A sample that was ended by a limit was going on: what it had said until then is no answer."""
    if not limit:
        return None
    value = limit.get("limit")
    size = f" of {value:g}" if isinstance(value, int | float) else ""
    return f"ended by the {as_text(limit.get('type')) or 'sample'} limit{size}, before there was an answer"


def read_score(name: str, score: Mapping[str, Any]) -> Iterator[tuple[str, LoggedScore]]:
    """One scorer may give several values: each is a scorer then, named `scorer.value`."""
    value, reason = score.get("value"), as_text(score.get("explanation"))
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from read_score(f"{name}.{key}", {**score, "value": part})
        return
    why = score.get("reason")
    if why == "grader_failed" or (reason or "").startswith(_GRADE_NOT_FOUND):
        said = f"the grader's reply could not be read: {reason or why}"
        yield name, LoggedScore(value, reason=reason, problem=" ".join(said.split())[:300])
    elif isinstance(value, str) and value in _LETTERS:
        points, is_correct = _LETTERS[value]
        yield name, LoggedScore(value, points, is_correct, reason)
    else:
        yield name, read_grade(value, reason=reason)


def resolve(value: Any, attachments: Mapping[str, Any]) -> Any:
    """With long texts put back where Inspect left a reference to them."""
    if not attachments:
        return value
    if isinstance(value, str):
        return attachments.get(value.removeprefix(_ATTACHMENT), value) if value.startswith(_ATTACHMENT) else value
    if isinstance(value, list):
        return [resolve(item, attachments) for item in value]
    if isinstance(value, Mapping):
        return {key: resolve(item, attachments) for key, item in value.items()}
    return value


INSPECT = (LogFormat("inspect", "Inspect log", is_inspect, open_inspect),)
