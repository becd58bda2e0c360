"""Results of promptfoo, as JSON, JSON lines or CSV."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_object, in_row, in_table
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.json_stream import Steps, parse_or_none, walk_file
from mixseek.datasets.importers.reading.rows import read_table
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed
from mixseek.datasets.importers.samples.answers import is_call, read_answer
from mixseek.datasets.importers.samples.contexts import contexts_in
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.messages import conversation_text, is_message, messages_of
from mixseek.datasets.importers.samples.question_names import QuestionNames
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import TARGET_VARIABLES, question_text, target_texts
from mixseek.datasets.importers.samples.transcript import transcript_of
from mixseek.datasets.importers.samples.turns import Unread, turns_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.domain.steps import Step
from mixseek.errors import DatasetError

_RESULTS: Steps = ("results", "results")
_VERSIONS = (2, 3, 4)
# failureReason: a plain failure has an `error` too, the grader's reason.
_FAILED_BY_ERROR = 2
_UNREADABLE = ("Could not extract JSON", "Could not parse", "No output", "produced malformed response")
# What its providers write in the place of an output that a filter stopped; only its JSON says so beside the text.
_FILTERED_OUTPUT = re.compile(
    r"Content filtered by provider"
    r"|The generated content was filtered due to triggering Azure OpenAI Service['\u2019]s content filtering system\."
)
# Assertions whose value is what the answer has to say.
_LITERAL_ASSERTIONS = ("equals", "icontains", "contains", "factuality", "similar")
_QUESTION_VARIABLES = ("question", "query", "input", "prompt", "instruction", "problem")
# Its assertions about contexts read the first of them.
_CONTEXT_VARIABLES = ("context", "contexts", "documents", "retrieved_contexts")
_OUTPUT_COLUMN = re.compile(r"^\[(?P<provider>.+?)\] (?P<prompt>.*)$", re.DOTALL)
_OLD_MARK = re.compile(r"^\[(PASS|FAIL|ERROR)\]\s*(?:\([^)]*\)\s*)?")


# Its JSON has results in results, its lines are those results, its CSV a column for each prompt.
_SIGNATURES = (
    in_object("evalId", "results"),
    in_row("promptIdx", "testIdx", "vars"),
    in_table("Status"),
    in_table("Description"),
)


def has_outputs(sniffed: Sniffed) -> bool:
    """A table needs a column of outputs; other shapes are told by their names."""
    if sniffed.shape is not Shape.TABLE:
        return True
    is_described = "Status" in sniffed.names or "Description" in sniffed.names
    return is_described and any(map(_OUTPUT_COLUMN.match, sniffed.names))


def open_promptfoo(sniffed: Sniffed) -> Log:
    """Versions of the results that are known all have the same rows."""
    if sniffed.shape is Shape.TABLE:
        return Log(partial(read_promptfoo_table, sniffed))
    if sniffed.has("promptIdx", "testIdx"):
        return Log(partial(read_promptfoo, sniffed))
    version = sniffed.value("results", "version")
    if version not in _VERSIONS:
        known = ", ".join(map(str, _VERSIONS))
        raise DatasetError(f"{sniffed.path}: promptfoo results of version {version}; known are {known}")
    if sniffed.outline.get(_RESULTS, b"")[:1] != b"[":
        raise DatasetError(f"{sniffed.path}: promptfoo results without the list `results.results`")
    return Log(
        partial(read_promptfoo, sniffed), as_text(sniffed.value("metadata", "promptfooVersion")), as_text(version)
    )


def read_promptfoo(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """A repeat is another test with the same variables."""
    if sniffed.has("promptIdx", "testIdx"):
        rows: Iterator[Any] = (row for _, row in sniffed.rows(notices))
    else:
        rows = (row for _, row in walk_file(sniffed.path, {_RESULTS: True}, notices))
    names = QuestionNames()
    prompts = several_prompts(sniffed)
    planned: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping) or "promptIdx" not in row:
            raise DatasetError(f"{sniffed.path}: result {number}: a promptfoo result without `promptIdx`")
        planned[str(row["promptIdx"])] += 1
        yield read_promptfoo_row(row, names, prompts)
    if len(set(planned.values())) > 1:
        counts = ", ".join(f"{count:,}" for _, count in sorted(planned.items()))
        notices.append(f"prompts have different numbers of results ({counts}): the evaluation was aborted")


def several_prompts(sniffed: Sniffed) -> bool:
    """Whether the file holds several prompts or providers, which ids then tell apart."""
    if sniffed.shape is not Shape.OBJECT:
        return any(row.get("promptIdx") for _, row in sniffed.rows([]))
    return any(as_table(row).get("promptIdx") for _, row in walk_file(sniffed.path, {_RESULTS: True}, []))


def read_promptfoo_row(row: Mapping[str, Any], names: QuestionNames, are_several: bool) -> LoggedSample:
    case, variables, prompt = as_table(row.get("testCase")), as_table(row.get("vars")), as_table(row.get("prompt"))
    response, provider = as_table(row.get("response")), as_table(row.get("provider"))
    # Older versions have the provider's name here, newer ones an object.
    target = as_text(provider.get("label")) or as_text(provider.get("id")) or as_text(row.get("provider"))
    error = None
    if row.get("failureReason") == _FAILED_BY_ERROR or (not response and row.get("error")):
        error = as_text(row.get("error")) or "the provider failed without a word"
    label, raw = as_text(prompt.get("label")), as_text(prompt.get("raw"))
    output = spoken_and_called(response.get("output"))
    answer, stop = read_answer(output), as_text(response.get("finishReason"))
    flagged = as_table(response.get("guardrails")).get("flagged") is True
    return LoggedSample(
        question_id=names.name(as_text(case.get("description")), variables or raw),
        question=promptfoo_question(variables, raw),
        response=answer.begun if answer.text is None else answer.text,
        error=error,
        withheld=answer.withheld,
        targets=promptfoo_targets(variables, as_rows(case.get("assert"))),
        target_model=target,
        variant=str(row["promptIdx"]) if are_several else None,
        prompt_variant=label,
        stop_reason=stop if stop not in (None, "stop") or not flagged else "guardrail",
        scores=promptfoo_scores(row),
        metadata={**as_table(case.get("metadata")), "vars": variables},
        steps=promptfoo_steps(raw or promptfoo_question(variables, raw), output, stop),
        contexts=contexts_in(variables, _CONTEXT_VARIABLES)[1],
    )


def spoken_and_called(output: Any) -> Any:
    """What promptfoo made a text of: the blocks of an answer, of which the calls of Anthropic are JSON."""
    if not isinstance(output, str) or "tool_use" not in output:
        return output
    blocks: list[Any] = []
    for block in output.split("\n\n"):
        call = read_cell(block)
        if is_call(as_table(call)) and as_table(call).get("type") == "tool_use":
            blocks.append(call)
        else:
            blocks.append({"type": "text", "text": block})
    return blocks if any(block["type"] == "tool_use" for block in blocks) else output


def promptfoo_steps(prompt: str, output: Any, stop: str | None) -> tuple[Step, ...]:
    """The prompt as it was sent and what came back, where that is more than a text."""
    sent = messages_in(prompt) or [{"role": "user", "content": prompt}]
    output = read_cell(output) if isinstance(output, str) and output[:1] in "[{" else output
    value = as_table(output)
    back = [value] if is_message(value) or is_call(value) else messages_of(value.get("messages")) or messages_of(output)
    if value.get("tool_calls") and not back:
        back = [{"role": "assistant", **value}]
    if back and all(map(is_call, back)):
        back = [{"role": "assistant", "tool_calls": back}]
    elif not all(is_message(item) or "type" in item for item in back):
        back = []
    elif back and not any(map(is_message, back)) and not any("call_id" in item for item in back):
        # The parts of one message.
        back = [{"role": "assistant", "content": back}]
    if not back and isinstance(output, str):
        back = [{"role": "assistant", "content": output}]
    transcript = transcript_of(turns_of([*sent, *back], Unread()))
    transcript.end(stop)
    return transcript.steps


def messages_in(prompt: str) -> list[Mapping[str, Any]]:
    """The messages that a prompt is the JSON of."""
    if not prompt.lstrip().startswith("["):
        return []
    messages = messages_of(parse_or_none(prompt.encode("utf-8", "surrogatepass")))
    return messages if all(map(is_message, messages)) else []


def promptfoo_question(variables: Mapping[str, Any], raw: str | None) -> str:
    """The variable that is a question, else the prompt as it was sent."""
    question = next((variables[name] for name in _QUESTION_VARIABLES if isinstance(variables.get(name), str)), None)
    if question is not None or not raw:
        return question or question_text(variables)
    return conversation_text(messages_in(raw)) or raw


def promptfoo_targets(variables: Mapping[str, Any], assertions: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """The targets by the names that people use, else what an assertion literally asks for."""
    target = next((variables[name] for name in TARGET_VARIABLES if variables.get(name) is not None), None)
    if target is None:
        literal = (assertion.get("value") for assertion in assertions if assertion.get("type") in _LITERAL_ASSERTIONS)
        target = next((value for value in literal if isinstance(value, str) and "{{" not in value), None)
    return target_texts(target)


def promptfoo_scores(row: Mapping[str, Any]) -> dict[str, LoggedScore]:
    """Each assertion by its metric, or by its type; and the whole as `promptfoo`. No response, no score."""
    grading = as_table(row.get("gradingResult"))
    if not grading or row.get("failureReason") == _FAILED_BY_ERROR:
        return {}
    scores: dict[str, LoggedScore] = {}
    for component in as_rows(grading.get("componentResults")):
        assertion = as_table(component.get("assertion"))
        name = as_text(assertion.get("metric")) or as_text(assertion.get("type")) or "assertion"
        times = sum(known == name or known.startswith(f"{name}#") for known in scores)
        scores[name if not times else f"{name}#{times + 1}"] = promptfoo_score(component)
    return {**scores, "promptfoo": promptfoo_score(grading)}


def promptfoo_score(result: Mapping[str, Any]) -> LoggedScore:
    reason, passed = as_text(result.get("reason")), result.get("pass")
    if passed is False and any(mark in (reason or "") for mark in _UNREADABLE):
        return LoggedScore(
            result.get("score"), reason=reason, problem=f"the grader's reply could not be read: {reason}"
        )
    return read_grade(result.get("score"), passed=passed if isinstance(passed, bool) else None, reason=reason)


def read_promptfoo_table(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Variables, then for each prompt a column with the outputs and columns with what was made of them."""
    table = read_table(sniffed.path, notices)
    _, header = next(table)
    starts = [index for index, name in enumerate(header) if _OUTPUT_COLUMN.match(name)]
    names = QuestionNames()
    for _, cells in table:
        leading = dict(zip(header[: starts[0]], cells, strict=False))
        description = leading.pop("Description", None)
        variables = {name: value for name, value in leading.items() if not name.startswith("__")}
        for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(header)], strict=True)):
            column = _OUTPUT_COLUMN.match(header[start])
            details = dict(zip(header[start + 1 : end], cells[start + 1 : end], strict=True))
            marked = _OLD_MARK.match(cells[start])
            status = details.get("Status") or (marked[1] if marked is not None else "")
            output = cells[start] if "Status" in details or marked is None else cells[start][marked.end() :]
            reason = details.get("Grader Reason") or None
            yield LoggedSample(
                question_id=names.name(description, variables),
                question=promptfoo_question(variables, None),
                response=output,
                # A cell is a text, also where it is the JSON of something: only a call in it is no answer.
                withheld=read_answer(read_cell(output)).withheld,
                error=(reason or output or "an error without words") if status == "ERROR" else None,
                targets=promptfoo_targets({name: value for name, value in variables.items() if value}, []),
                target_model=column["provider"] if column is not None else None,
                variant=str(index) if len(starts) > 1 else None,
                prompt_variant=column["prompt"] if column is not None else None,
                stop_reason="content_filter" if _FILTERED_OUTPUT.fullmatch(output) else None,
                scores={} if status == "ERROR" else table_scores(details, status, reason),
                metadata={"vars": variables},
                steps=() if status == "ERROR" else promptfoo_steps(promptfoo_question(variables, None), output, None),
                contexts=contexts_in(variables, _CONTEXT_VARIABLES)[1],
            )


def table_scores(details: Mapping[str, str], status: str, reason: str | None) -> dict[str, LoggedScore]:
    """Named metrics have a number only; the verdict belongs to the whole."""
    metrics = {name.removeprefix("Metric: "): value for name, value in details.items() if name.startswith("Metric: ")}
    passed = {"PASS": True, "FAIL": False}.get(status)
    is_only = len(metrics) == 1
    unreadable = passed is False and any(mark in (reason or "") for mark in _UNREADABLE)
    problem = f"the grader's reply could not be read: {reason}" if unreadable else None
    whole = read_grade(details.get("Score") or passed, passed=passed, reason=reason)
    if problem is not None:
        whole = LoggedScore(whole.value, reason=reason, problem=problem)
    scores = {name: whole if is_only else read_grade(value) for name, value in metrics.items() if value}
    return {**scores, "promptfoo": whole}


FORMAT = LogFormat("promptfoo", "promptfoo results", _SIGNATURES, open_promptfoo, has_outputs)
