"""Logs of EvalScope (ModelScope): reviews hold responses and scores, predictions the responses only."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_row
from mixseek.datasets.importers.reading.sniffing import Sniffed, sniff
from mixseek.datasets.importers.samples.answers import calls_of, describe_calls
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.messages import content_text, last_user_text, role_of
from mixseek.datasets.importers.samples.question_names import own_id
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import target_texts
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass

# A review, a prediction, a report.
_SIGNATURES = (
    in_row("sample_score", "index", "target"),
    in_row("model_output", "index", "messages"),
    in_row("schema_version", "dataset_name", "model_name", "metrics"),
)


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
        mismatched = 0
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
                mismatched += 1
                yield sample
        if mismatched:
            notices.append(
                f"{mismatched:,} predictions in {describe_path(beside)} have another text than their review, so they "
                "are not of this run: how those outputs ended is not known"
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
    """Predictions by index; a file that is none of EvalScope's says nothing."""
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
    answers = [message for message in as_rows(row.get("messages")) if role_of(message) == "assistant"]
    return content_text(answers[-1].get("content")) if answers else None


def main_scorer(row: Mapping[str, Any]) -> str | None:
    """The scorer of a review that was scored as it was to be."""
    score = as_table(as_table(row.get("sample_score")).get("score"))
    return as_text(score.get("main_score_name")) if score.get("status", "success") == "success" else None


def read_evalscope_review(row: Mapping[str, Any], scorer: str, task: str) -> LoggedSample:
    sample_score = as_table(row["sample_score"])
    score, metadata = as_table(sample_score.get("score")), as_table(sample_score.get("sample_metadata"))
    answers = [message for message in as_rows(row.get("messages")) if role_of(message) == "assistant"]
    generation = sample_score.get("generation_index")
    return LoggedSample(
        question_id=own_id(metadata, sample_score.get("group_id", row.get("index"))),
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


FORMAT = LogFormat("evalscope", "EvalScope log", _SIGNATURES, open_evalscope)
