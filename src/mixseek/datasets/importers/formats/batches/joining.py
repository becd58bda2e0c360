"""Files of one batch, joined: outputs with the questions of the requests beside them.

A request has no target and no score; where a batch was asked to judge, its imported file serves as recorded replies.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, Signature, in_object
from mixseek.datasets.importers.reading.json_stream import walk_file
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed, sniff
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_table
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass

Request = tuple[str, str | None]  # the question, and the model that was asked
# What files of one batch are called; the output of OpenAI is split into what came and what failed.
_REQUEST_WORDS = ("input", "requests", "request")
_OUTPUT_WORDS = ("output", "results", "result")
_ERROR_WORDS = ("error", "errors")


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider writes a batch: the name of a request, its two kinds of rows, and what each says."""

    name: str
    key: str
    # Of both kinds of rows; Anthropic's object of requests is known beside them.
    signatures: tuple[Signature, ...]
    is_output: Callable[[Mapping[str, Any]], bool]
    is_request: Callable[[Mapping[str, Any]], bool]
    read_request: Callable[[Mapping[str, Any]], Request]
    read_output: Callable[[Mapping[str, Any]], LoggedSample]


def is_batch(provider: Provider, sniffed: Sniffed) -> bool:
    """Output rows, request rows, or Anthropic's object of requests."""
    if sniffed.shape is Shape.OBJECT and sniffed.outline.get(("requests",), b"")[:1] == b"[":
        first = next((row for row in read_requests_object(sniffed.path, [])), {})
        return provider.is_request(first)
    return sniffed.is_rows() and (provider.is_output(sniffed.first) or provider.is_request(sniffed.first))


def open_batch(provider: Provider, sniffed: Sniffed) -> Log:
    """Output with the questions of its input beside it; an input with every output that is found beside it."""
    path = sniffed.path
    if sniffed.is_rows() and provider.is_output(sniffed.first):
        requests = find_beside(provider, path, (*_OUTPUT_WORDS, *_ERROR_WORDS), _REQUEST_WORDS, provider.is_request)
        notices = [] if requests else ["the file of its requests is not beside it, so there are no questions"]
        failures = find_beside(provider, path, _OUTPUT_WORDS, _ERROR_WORDS, provider.is_output)
        if failures:
            notices.append(
                f"requests that failed stand in {failures[0].name}; import {requests_name(requests)} for all"
            )
        samples = partial(read_outputs, provider, [path], requests)
        return Log(samples, companions=tuple(requests), notices=tuple(notices))
    outputs = find_beside(provider, path, _REQUEST_WORDS, (*_OUTPUT_WORDS, *_ERROR_WORDS), provider.is_output)
    if not outputs:
        raise DatasetError(
            f"{path}: requests of a batch ({provider.name}), without a response; its output is not beside it "
            f"under the same name with {_OUTPUT_WORDS[0]} for {_REQUEST_WORDS[0]}: give the output file instead"
        )
    return Log(partial(read_outputs, provider, outputs, [path]), companions=tuple(outputs))


def requests_name(requests: list[Path]) -> str:
    return requests[0].name if requests else "that file, too,"


def find_beside(
    provider: Provider,
    path: Path,
    words: tuple[str, ...],
    wanted: tuple[str, ...],
    fits: Callable[[Mapping[str, Any]], bool],
) -> list[Path]:
    """Files of the same batch, by their names with another word in it; their content has to fit, too."""
    paths: dict[Path, None] = {}
    for word in words:
        if word not in path.name:
            continue
        start, _, end = path.name.rpartition(word)
        for other in wanted:
            for suffix in dict.fromkeys((end, ".jsonl", ".json")):
                beside = path.with_name(f"{start}{other}{suffix}")
                if beside != path and beside.is_file() and beside not in paths and fits(first_row(beside)):
                    paths[beside] = None
        break
    return list(paths)


def first_row(path: Path) -> Mapping[str, Any]:
    sniffed = sniff(path)
    if sniffed is None:
        return {}
    if sniffed.shape is Shape.OBJECT and ("requests",) in sniffed.outline:
        return next(read_requests_object(path, []), {})
    return sniffed.first


def read_requests_object(path: Path, notices: Notices) -> Iterator[Mapping[str, Any]]:
    yield from (as_table(row) for _, row in walk_file(path, {("requests",): True}, notices))


def rows_of(path: Path, notices: Notices) -> Iterator[Mapping[str, Any]]:
    """The rows of an output, or of requests in either shape."""
    sniffed = sniff(path)
    if sniffed is None:
        raise DatasetError(f"{path}: cannot be read as a file of a batch")
    if sniffed.shape is Shape.OBJECT and ("requests",) in sniffed.outline:
        return read_requests_object(path, notices)
    return (row for _, row in sniffed.rows(notices))


def read_outputs(
    provider: Provider, outputs: list[Path], requests: list[Path], notices: Notices
) -> Iterator[LoggedSample]:
    """Each output with its question; what was asked and never came back is told."""
    waiting: dict[str, Request] = {}
    for path in requests:
        for row in rows_of(path, notices):
            waiting[str(row.get(provider.key))] = provider.read_request(row)
    total = len(waiting)
    for path in outputs:
        for number, row in enumerate(rows_of(path, notices), 1):
            if not provider.is_output(row):
                raise DatasetError(
                    f"{path}: row {number}: not the output of a {provider.name} batch, as the first row is"
                )
            sample = provider.read_output(row)
            question, model = waiting.pop(sample.question_id, ("", None))
            yield with_question(sample, question, model)
    if waiting and len(waiting) < total:
        notices.append(f"{len(waiting):,} of {total:,} requests have no output here")


def with_question(sample: LoggedSample, question: str, model: str | None) -> LoggedSample:
    """The model that answered is named with its date, which says more than the name that was asked for."""
    return replace(sample, question=question, target_model=sample.target_model or model)


def batch_format(provider: Provider) -> LogFormat:
    """The format of one provider's batches."""
    name = f"{provider.name.lower()}_batch"
    signatures = (in_object("requests"), *provider.signatures)
    confirm, open_files = partial(is_batch, provider), partial(open_batch, provider)
    return LogFormat(name, f"{provider.name} batch", signatures, open_files, confirm)
