"""Results that come with verdicts: test suites (promptfoo, DeepEval), and judges of others (MT-Bench, AlpacaEval)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.answers import read_answer
from mixseek.datasets.importers.reading import Shape, Sniffed, Steps, parse_or_none, read_cell, read_table, walk_file
from mixseek.datasets.importers.record import (
    TARGET_VARIABLES,
    Log,
    LogFormat,
    LoggedSample,
    LoggedScore,
    Notices,
    QuestionNames,
    as_rows,
    as_table,
    as_text,
    conversation_text,
    digest_name,
    opening,
    question_text,
    read_grade,
    target_texts,
)
from mixseek.errors import DatasetError

# Results of test suites for prompts: promptfoo (JSON, JSON lines, CSV) and DeepEval.

# promptfoo.

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
_OUTPUT_COLUMN = re.compile(r"^\[(?P<provider>.+?)\] (?P<prompt>.*)$", re.DOTALL)
_OLD_MARK = re.compile(r"^\[(PASS|FAIL|ERROR)\]\s*(?:\([^)]*\)\s*)?")


def is_promptfoo(sniffed: Sniffed) -> bool:
    """Its JSON has results in results, its lines are those results, its CSV a column for each prompt."""
    if sniffed.shape is Shape.TABLE:
        is_output = any(_OUTPUT_COLUMN.match(name) for name in sniffed.names)
        return is_output and ("Status" in sniffed.names or "Description" in sniffed.names)
    is_whole = sniffed.shape is Shape.OBJECT and ("evalId",) in sniffed.outline and ("results",) in sniffed.outline
    return is_whole or (sniffed.is_rows() and sniffed.has("promptIdx", "testIdx", "vars"))


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
        told = ", ".join(f"{count:,}" for _, count in sorted(planned.items()))
        notices.append(f"prompts have different numbers of results ({told}): the evaluation was aborted")


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
    answer, stop = read_answer(response.get("output")), as_text(response.get("finishReason"))
    flagged = as_table(response.get("guardrails")).get("flagged") is True
    return LoggedSample(
        question_id=names.name(as_text(case.get("description")), variables or raw),
        question=promptfoo_question(variables, raw),
        response=answer.said if answer.text is None else answer.text,
        error=error,
        withheld=answer.withheld,
        targets=promptfoo_targets(variables, as_rows(case.get("assert"))),
        target_model=target,
        variant=str(row["promptIdx"]) if are_several else None,
        prompt_variant=label,
        stop_reason=stop if stop not in (None, "stop") or not flagged else "guardrail",
        scores=promptfoo_scores(row),
        metadata={**as_table(case.get("metadata")), "vars": variables},
    )


def promptfoo_question(variables: Mapping[str, Any], raw: str | None) -> str:
    """The variable that is a question, else the prompt as it was sent."""
    found = next((variables[name] for name in _QUESTION_VARIABLES if isinstance(variables.get(name), str)), None)
    if found is not None or not raw:
        return found or question_text(variables)
    messages = parse_or_none(raw.encode("utf-8", "surrogatepass")) if raw.lstrip().startswith("[") else None
    return conversation_text(messages) or raw


def promptfoo_targets(variables: Mapping[str, Any], assertions: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """By the names that people use, else what an assertion literally asks for."""
    found = next((variables[name] for name in TARGET_VARIABLES if variables.get(name) is not None), None)
    if found is None:
        literal = (one.get("value") for one in assertions if one.get("type") in _LITERAL_ASSERTIONS)
        found = next((value for value in literal if isinstance(value, str) and "{{" not in value), None)
    return target_texts(found)


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


def promptfoo_score(told: Mapping[str, Any]) -> LoggedScore:
    reason, passed = as_text(told.get("reason")), told.get("pass")
    if passed is False and any(mark in (reason or "") for mark in _UNREADABLE):
        return LoggedScore(told.get("score"), reason=reason, problem=f"the grader's reply could not be read: {reason}")
    return read_grade(told.get("score"), passed=passed if isinstance(passed, bool) else None, reason=reason)


def read_promptfoo_table(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Variables, then for each prompt a column with the outputs and columns with what was made of them."""
    table = read_table(sniffed.path, notices)
    _, header = next(table)
    starts = [index for index, name in enumerate(header) if _OUTPUT_COLUMN.match(name)]
    names = QuestionNames()
    for _, cells in table:
        given = dict(zip(header[: starts[0]], cells, strict=False))
        description = given.pop("Description", None)
        variables = {name: value for name, value in given.items() if not name.startswith("__")}
        for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(header)], strict=True)):
            column = _OUTPUT_COLUMN.match(header[start])
            told = dict(zip(header[start + 1 : end], cells[start + 1 : end], strict=True))
            marked = _OLD_MARK.match(cells[start])
            status = told.get("Status") or (marked[1] if marked is not None else "")
            output = cells[start] if "Status" in told or marked is None else cells[start][marked.end() :]
            reason = told.get("Grader Reason") or None
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
                scores={} if status == "ERROR" else table_scores(told, status, reason),
                metadata={"vars": variables},
            )


def table_scores(told: Mapping[str, str], status: str, reason: str | None) -> dict[str, LoggedScore]:
    """Named metrics have a number only; the verdict belongs to the whole."""
    metrics = {name.removeprefix("Metric: "): value for name, value in told.items() if name.startswith("Metric: ")}
    passed = {"PASS": True, "FAIL": False}.get(status)
    is_only = len(metrics) == 1
    unreadable = passed is False and any(mark in (reason or "") for mark in _UNREADABLE)
    problem = f"the grader's reply could not be read: {reason}" if unreadable else None
    whole = read_grade(told.get("Score") or passed, passed=passed, reason=reason)
    if problem is not None:
        whole = LoggedScore(whole.value, reason=reason, problem=problem)
    scores = {name: whole if is_only else read_grade(value) for name, value in metrics.items() if value}
    return {**scores, "promptfoo": whole}


# DeepEval: the file of a test run, its copy `.latest_test_run.json`, or a dumped EvaluationResult.

_CASES: tuple[Steps, ...] = (("testCases",), ("testRunData", "testCases"), ("test_results",))


def is_deepeval(sniffed: Sniffed) -> bool:
    outline = set(sniffed.outline)
    is_result = {("test_results",), ("confident_link",)} <= outline
    is_run = {("testCases",), ("metricsScores",)} <= outline
    return sniffed.shape is Shape.OBJECT and (is_result or is_run or ("testRunData",) in outline)


def open_deepeval(sniffed: Sniffed) -> Log:
    steps = next((steps for steps in _CASES if sniffed.outline.get(steps, b"")[:1] == b"["), None)
    if steps is None:
        raise DatasetError(f"{sniffed.path}: a DeepEval test run without a list of test cases")
    told = sniffed.value(*steps[:-1], "hyperparameters")
    model = as_text(as_table(told).get("model"))
    return Log(partial(read_deepeval, sniffed, steps, model))


def read_deepeval(sniffed: Sniffed, steps: Steps, model: str | None, notices: Notices) -> Iterator[LoggedSample]:
    """Camel case in its own files, snake case in what Python dumps."""
    names = QuestionNames()
    conversations = 0
    others = (*steps[:-1], "conversationalTestCases")
    for number, (found, case) in enumerate(walk_file(sniffed.path, {steps: True, others: True}, notices), 1):
        case = as_table(case)
        if found == others or case.get("conversational") is True:
            conversations += 1
            continue
        question, metrics = case.get("input"), case.get("metricsData", case.get("metrics_data"))
        if question is None and metrics is None:
            raise DatasetError(f"{sniffed.path}: test case {number}: a DeepEval case without `input`")
        order = case.get("order", case.get("index", number - 1))
        expected = case.get("expectedOutput", case.get("expected_output"))
        metadata = case.get("metadata", case.get("additionalMetadata"))
        yield LoggedSample(
            question_id=names.name(as_text(case.get("name")) or f"case {order}", question, expected),
            question=question_text(question),
            response=as_text(case.get("actualOutput", case.get("actual_output"))),
            targets=target_texts(expected),
            target_model=model,
            scores={str(one.get("name")): deepeval_score(one) for one in as_rows(metrics)},
            metadata={**as_table(metadata), **({"tags": case["tags"]} if case.get("tags") else {})},
        )
    if conversations:
        notices.append(f"{conversations:,} conversational test cases are left out: they have no single response")


def deepeval_score(metric: Mapping[str, Any]) -> LoggedScore:
    """An error leaves no score, and the test `success: false` all the same."""
    error, success = as_text(metric.get("error")), metric.get("success")
    if error is not None or metric.get("score") is None:
        return LoggedScore(None, problem=error or "the metric has no score")
    passed = success if isinstance(success, bool) else None
    return read_grade(metric["score"], passed=passed, reason=as_text(metric.get("reason")))


FORMATS = (
    LogFormat("promptfoo", "promptfoo results", is_promptfoo, open_promptfoo),
    LogFormat("deepeval", "DeepEval test run", is_deepeval, open_deepeval),
)


# Judgments of other judges: MT-Bench (FastChat) and AlpacaEval.
#
# Where two responses were compared, the sample is the second one, as in AlpacaEval; the first is in its metadata, and
# the score says how far the second is preferred: 1 wins, 0 loses, 0.5 ties.

# MT-Bench: question and response stand in the judge's prompt only.

_SCALE = (1, 10)
_QUESTION = re.compile(r"\[(?:User )?Question\]\n(.*?)(?=\n\n?\[The Start of|\n\n?<\|The Start of|\Z)", re.DOTALL)
# How each begins, and how it ends.
_ANSWERS = re.compile(r"\[The Start of Assistant(?: [AB])?'s Answer\]\n"), "[The End of Assistant"
_REFERENCE = re.compile(r"\[The Start of Reference Answer\]\n"), "[The End of Reference Answer]"
_CONVERSATIONS = (
    re.compile(r"<\|The Start of Assistant (?:[AB])'s Conversation with User\|>\n"),
    "<|The End of Assistant",
)
_TURN = re.compile(r"^### (User|Assistant(?: [AB])?):[ \t]*(?:\n|\Z)", re.MULTILINE)
_TURN_ORDERS = (["user", "assistant"], ["user", "assistant"] * 2)


def is_fastchat(sniffed: Sniffed) -> bool:
    is_single = sniffed.has("question_id", "model", "judge", "user_prompt", "judgment", "score")
    is_pair = sniffed.has("question_id", "model_1", "model_2", "g1_winner", "g2_winner")
    is_answer = sniffed.has("question_id", "answer_id", "model_id", "choices")
    return sniffed.is_rows() and (is_single or is_pair or is_answer)


def open_fastchat(sniffed: Sniffed) -> Log:
    if sniffed.has("answer_id"):
        return Log(partial(read_answers, sniffed))
    return Log(partial(read_fastchat, sniffed, read_single if sniffed.has("score") else read_pair))


def read_fastchat(sniffed: Sniffed, read: Any, notices: Notices) -> Iterator[LoggedSample]:
    unread = 0
    for number, row in sniffed.rows(notices):
        if "question_id" not in row or "judge" not in row:
            raise DatasetError(f"{sniffed.path}: line {number}: an MT-Bench judgment without `question_id` or `judge`")
        sample = read(row)
        unread += sample.response is None
        yield sample
    if unread:
        notices.append(f"{unread:,} prompts are not in MT-Bench's own words, so no response could be taken out of them")


def question_name(row: Mapping[str, Any]) -> str:
    """The second turn is a question of its own."""
    turn = row.get("turn", 1)
    return str(row["question_id"]) if turn == 1 else f"{row['question_id']}.turn{turn}"


def scorer_name(row: Mapping[str, Any]) -> str:
    """`judge` is [model, name of the prompt]."""
    judge = row["judge"]
    return str(judge[0]) if isinstance(judge, list) and judge else as_text(judge) or "judge"


def read_single(row: Mapping[str, Any]) -> LoggedSample:
    question, answers, reference = read_prompt(as_text(row.get("user_prompt")) or "")
    value, (low, high) = row.get("score"), _SCALE
    reason = as_text(row.get("judgment"))
    if not isinstance(value, int | float) or not low <= value <= high:
        score = LoggedScore(value, reason=reason, problem=f"the judge's rating could not be read (recorded as {value})")
    else:
        score = LoggedScore(value, (value - low) / (high - low), None, reason)
    return LoggedSample(
        question_id=question_name(row),
        question=question,
        response=answers[0] if answers else None,
        error=None
        if answers
        else "the judge's prompt is not in MT-Bench's words, so its answer could not be taken out",
        target_model=as_text(row.get("model")),
        variant=as_text(row.get("model")),
        scores={scorer_name(row): score},
        metadata=told_of(row, reference),
    )


def read_pair(row: Mapping[str, Any]) -> LoggedSample:
    """Both orders were judged; a winner that changes with the order is a tie, as MT-Bench counts it."""
    question, answers, reference = read_prompt(as_text(row.get("g1_user_prompt")) or "")
    winners = (str(row.get("g1_winner")), str(row.get("g2_winner")))
    reason = "\n\n".join(filter(None, (as_text(row.get("g1_judgment")), as_text(row.get("g2_judgment")))))
    if not set(winners) <= {"model_1", "model_2", "tie"}:
        score = LoggedScore(list(winners), reason=reason, problem="a verdict of the judge could not be read")
    else:
        points = {("model_2", "model_2"): 1.0, ("model_1", "model_1"): 0.0}.get(winners, 0.5)
        score = LoggedScore(list(winners), points, {1.0: True, 0.0: False}.get(points), reason)
    known = len(answers) == 2
    first, second = (as_text(row.get(name)) for name in ("model_1", "model_2"))
    opponent = {"opponent": first, "opponent_response": answers[0] if known else None}
    return LoggedSample(
        question_id=question_name(row),
        question=question,
        response=answers[1] if known else None,
        error=None if known else "the judge's prompt is not in MT-Bench's words, so its answers could not be taken out",
        target_model=second,
        variant=f"{second} vs {first}",
        scores={scorer_name(row): score},
        metadata={**told_of(row, reference), **opponent},
    )


def told_of(row: Mapping[str, Any], reference: str | None) -> dict[str, Any]:
    return {
        "judge": row.get("judge"),
        "turn": row.get("turn"),
        **({"reference_answer": reference} if reference else {}),
    }


def read_prompt(prompt: str) -> tuple[str, list[str], str | None]:
    """Question, answers and reference answer; of a conversation, what came before the last answer is the question."""
    reference = next(iter(between(prompt, *_REFERENCE)), None)
    asked = _QUESTION.search(prompt)
    answers = between(prompt, *_ANSWERS)
    question = asked[1] if asked is not None else ""
    if not answers:
        parted = [part_conversation(conversation) for conversation in between(prompt, *_CONVERSATIONS)]
        answers = [answer for _, answer in parted if answer is not None]
        question = parted[0][0] if parted else question
    return question.strip("\n"), [answer.strip("\n") for answer in answers], reference


def between(text: str, beginning: re.Pattern[str], ending: str) -> list[str]:
    """What stands between the marks, one after the other; beginnings without an end are not looked at again."""
    parts: list[str] = []
    place = 0
    while (begun := beginning.search(text, place)) and (end := text.find(ending, begun.end())) >= 0:
        parts.append(text[begun.end() : end].removesuffix("\n"))
        place = end + len(ending)
    return parts


def part_conversation(text: str) -> tuple[str, str | None]:
    """What was said before the last answer, and that answer, which may be empty.

    None where turns do not alternate as MT-Bench writes them: an answer that plays the user, too, cannot be told apart.
    """
    parts = _TURN.split(text.strip("\n"))
    turns = list(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))
    speakers = ["user" if who == "User" else "assistant" for who, _ in turns]
    before = "\n\n".join(f"{who}: {said}" for who, (_, said) in zip(speakers[:-1], turns[:-1], strict=True))
    return before, turns[-1][1] if speakers in _TURN_ORDERS else None


def read_answers(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """MT-Bench's model_answer files: each turn of each choice; the questions stand in another file."""
    for _, row in sniffed.rows(notices):
        for index, choice in enumerate(as_rows(row.get("choices")), 1):
            turns = choice.get("turns")
            for turn, text in enumerate(turns if isinstance(turns, list) else [], 1):
                yield LoggedSample(
                    question_id=question_name({"question_id": row.get("question_id"), "turn": turn}),
                    response=as_text(text),
                    target_model=as_text(row.get("model_id")),
                    repeat=index,
                )


# AlpacaEval.


def is_alpaca_eval(sniffed: Sniffed) -> bool:
    is_annotated = sniffed.has("instruction", "output_1", "output_2", "preference")
    is_output = sniffed.has("instruction", "output", "generator", "dataset")
    return sniffed.is_rows() and (is_annotated or is_output)


def read_alpaca_eval(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Model outputs have no annotation yet; instructions have no id that all files share, so their digest is it."""
    # Outputs of several models to one instruction are no repeats of one of them.
    column = "generator_2" if sniffed.has("output_2") else "generator"
    is_one = len({as_text(row.get(column)) for _, row in sniffed.rows([])}) == 1
    for number, row in sniffed.rows(notices):
        if "instruction" not in row:
            raise DatasetError(f"{sniffed.path}: item {number}: an AlpacaEval row without `instruction`")
        question = as_text(row["instruction"]) or ""
        told = {name: row[name] for name in ("dataset", "id") if row.get(name) is not None}
        if "output_2" not in row:
            yield LoggedSample(
                question_id=digest_name(question),
                question=question,
                response=as_text(row.get("output")),
                target_model=as_text(row.get("generator")),
                variant=None if is_one else as_text(row.get("generator")),
                metadata=told,
            )
            continue
        yield LoggedSample(
            question_id=digest_name(question),
            question=question,
            response=as_text(row["output_2"]),
            target_model=as_text(row.get("generator_2")),
            variant=None if is_one else as_text(row.get("generator_2")),
            scores={as_text(row.get("annotator")) or "annotator": preference_score(row)},
            metadata={**told, "opponent": row.get("generator_1"), "opponent_response": row.get("output_1")},
        )


def preference_score(row: Mapping[str, Any]) -> LoggedScore:
    """1 is the first, 2 the second, between them a degree, 1.5 a tie and 0 a tie in older files."""
    value, reason = row.get("preference"), as_text(row.get("raw_completion"))
    if not isinstance(value, int | float) or not (value == 0 or 1 <= value <= 2):
        return LoggedScore(value, reason=reason, problem="the annotator gave no preference that could be read")
    score = 0.5 if value == 0 else float(value) - 1
    return LoggedScore(value, score, None if score == 0.5 else score > 0.5, reason)


ARENAS = (
    LogFormat("fastchat", "MT-Bench judgments", is_fastchat, open_fastchat),
    LogFormat("alpacaeval", "AlpacaEval annotations", is_alpaca_eval, opening(read_alpaca_eval)),
)
