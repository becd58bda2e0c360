"""What is no answer is never judged as one: calls of tools, steps of a run, filters and limits, and grades in words."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage import log_files

from mixseek.datasets.importers.answers import read_answer
from mixseek.datasets.importers.record import grade_table
from mixseek.datasets.importers.registry import recognise
from mixseek.domain.samples import LOG_SCORES
from mixseek.errors import DatasetError

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Oslo"}'}}
USE = {"type": "tool_use", "id": "u1", "name": "look_up", "input": {"city": "Oslo"}}
SAID = {"role": "assistant", "content": "It is 7."}
HUMAN = {"type": "human", "content": "How many?"}
ASKS = {"type": "ai", "content": "Let me see.", "tool_calls": [{"name": "look_up", "args": {}, "type": "tool_call"}]}
RESULT = {"type": "tool", "content": '{"count": 7}', "name": "look_up"}
REPLIES = {"type": "ai", "content": "It is 7.", "tool_calls": []}


def rows_of(path: Path) -> list[dict[str, Any]]:
    log = recognise(path)
    assert log is not None
    return list(log.rows([]))


def notices_of(path: Path) -> list[str]:
    log, notices = recognise(path), list[str]()
    assert log is not None
    for _ in log.rows(notices):
        pass
    return [*log.log.notices, *notices]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("It is 7.", "It is 7."),
        (7, "7"),
        ({"answer": "It is 7."}, "It is 7."),
        ({"output": {"text": "It is 7."}}, "It is 7."),
        ({"choices": [{"message": SAID, "finish_reason": "stop"}]}, "It is 7."),
        ([{"role": "user", "content": "How many?"}, SAID], "It is 7."),
        ({"messages": [HUMAN, ASKS, RESULT, REPLIES]}, "It is 7."),
        ({"output": [HUMAN, REPLIES]}, "It is 7."),
        (
            {"lc": 1, "type": "constructor", "id": ["messages", "AIMessage"], "kwargs": {"content": "It is 7."}},
            "It is 7.",
        ),
        (
            {"generations": [[{"text": "It is 7.", "message": {"type": "ai", "data": {"content": "It is 7."}}}]]},
            "It is 7.",
        ),
        ([{"type": "text", "text": "It is 7."}], "It is 7."),
        # What a model wrote as JSON is a text like any other, also where its keys are words that we know.
        ({"from": "Oslo", "to": "Rome"}, '{"from":"Oslo","to":"Rome"}'),
        ({"role": "clerk", "name": "Ann"}, '{"role":"clerk","name":"Ann"}'),
        (["a", "b"], '["a","b"]'),
    ],
)
def test_the_answer_is_what_the_assistant_said_last(value: Any, text: str) -> None:
    answer = read_answer(value)

    assert (answer.text, answer.withheld) == (text, None)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([CALL], "a call of the tool look_up"),
        ({"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}, "a call of the tool look_up"),
        (
            {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, USE]},
            "a call of the tool look_up",
        ),
        ([{"type": "text", "text": "Let me see."}, USE], "a call of the tool look_up"),
        ({"messages": [HUMAN, ASKS]}, "a call of the tool look_up"),
        ({"messages": [HUMAN, ASKS, RESULT]}, "ends with a message of 'tool'"),
        ([{"role": "user", "content": "How many?"}], "ends with a message of 'user'"),
    ],
)
def test_a_call_of_a_tool_and_what_stands_before_it_is_no_answer(value: Any, why: str) -> None:
    answer = read_answer(value)

    assert answer.text is None
    assert why in str(answer.withheld)


@pytest.mark.parametrize("value", [None, {}, [], {"answer": None}])
def test_nothing_is_no_text(value: Any) -> None:
    """`{}` was a response of two characters."""
    assert read_answer(value).text is None


@pytest.mark.parametrize("output", [[CALL], {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}])
def test_tool_calls_of_a_promptfoo_result_are_no_response(output: Any, tmp_path: Path) -> None:
    row = log_files.promptfoo_row(0, 0, response={"output": output, "finishReason": "tool_calls"})
    (read,) = rows_of(log_files.write_lines(tmp_path / "results.jsonl", [row]))

    assert read["response"] is None
    assert "a call of the tool look_up" in read["response_error"]
    assert read.get("withheld_text") == (None if isinstance(output, list) else "Let me see.")


def test_the_text_before_a_call_is_no_response_where_only_the_stop_reason_says_so(tmp_path: Path) -> None:
    """promptfoo writes the blocks of Anthropic into one text."""
    row = log_files.promptfoo_row(
        0, 0, response={"output": f"Let me see.\n\n{json.dumps(USE)}", "finishReason": "tool_use"}
    )
    (read,) = rows_of(log_files.write_lines(tmp_path / "results.jsonl", [row]))

    assert read["response"] is None
    assert "tool_use" in read["response_error"]


def test_the_rows_of_a_promptfoo_table_keep_their_text_unless_it_is_a_call(tmp_path: Path) -> None:
    header = ["question", "reference", "[model-a] {{question}}", "Status"]
    cells = [["How many?", "7", json.dumps([CALL]), "PASS"], ["How many?", "7", '{"answer": 7}', "PASS"]]
    first, second = rows_of(log_files.write_table(tmp_path / "results.csv", header, cells))

    assert first["response"] is None
    assert second["response"] == '{"answer": 7}'


def inspect_log(directory: Path, *samples: dict[str, Any]) -> Path:
    return log_files.write_json(directory / "log.json", {**log_files.INSPECT_HEADER, "samples": list(samples)})


def inspect_output(text: str, stop: str, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, **message}
    return {"choices": [{"message": said, "stop_reason": stop}], "completion": text}


def inspect_call(**arguments: str) -> list[dict[str, Any]]:
    return [{"id": "c1", "function": "submit" if "answer" in arguments else "count", "arguments": arguments}]


@pytest.mark.parametrize(
    "output",
    [
        "Content filtered by provider",
        "The generated content was filtered due to triggering Azure OpenAI Service's content filtering system.",
        "The generated content was filtered due to triggering Azure OpenAI Service\u2019s content filtering system.",
    ],
)
def test_what_promptfoo_writes_for_a_filtered_output_is_none_in_its_table_either(output: str, tmp_path: Path) -> None:
    """Its JSON says so beside the text; its table has the text alone, and a model may well write about filters."""
    header = ["question", "[m] {{question}}", "Status", "Score", "Grader Reason"]
    cells = [["What?", output, "PASS", "1.00", ""], ["Why?", f"It said: {output}", "PASS", "1.00", ""]]
    first, second = rows_of(log_files.write_table(tmp_path / "results.csv", header, cells))

    assert (first["response"], first["stop_reason"]) == (None, "content_filter")
    assert "no answer of the model's" in first["response_error"]
    assert second["response"] == f"It said: {output}"


def test_an_inspect_sample_that_hit_a_limit_has_no_answer(tmp_path: Path) -> None:
    """What it said on its way stood in the log as if it were one; how it was ended is what a person is told."""
    limit = {"type": "message", "limit": 7.0}
    output = inspect_output("Now the difference.", "tool_calls", tool_calls=inspect_call(expression="1 - 2"))
    spoken = inspect_output("I go on.", "stop")
    path = inspect_log(
        tmp_path,
        log_files.inspect_sample("a", limit=limit, output=output),
        log_files.inspect_sample("b", limit={"type": "token", "limit": 900}, output=spoken),
        log_files.inspect_sample("c", limit=None),
    )
    first, second, third = rows_of(path)

    assert [row["response"] for row in (first, second, third)] == [None, None, "So the answer is 7."]
    assert first["response_error"] == "ended by the message limit of 7, before there was an answer"
    assert first["withheld_text"] == "Now the difference."
    assert "token limit of 900" in second["response_error"]


def test_an_inspect_sample_that_ends_in_a_call_has_no_answer_unless_the_call_hands_it_in(tmp_path: Path) -> None:
    """Agents end by `submit`, and Inspect makes what was handed in the completion; the stop reason stays tool_calls."""
    asked = inspect_output("Now 1 - 2", "tool_calls", tool_calls=inspect_call(expression="1 - 2"))
    handed = inspect_output("7", "tool_calls", tool_calls=inspect_call(answer="7"))
    joined = inspect_output("I am sure.\n\n7", "tool_calls", tool_calls=inspect_call(answer="7"))
    taken_out = inspect_output("7", "tool_calls")
    path = inspect_log(
        tmp_path,
        *(
            log_files.inspect_sample(name, output=one)
            for name, one in zip("abcd", (asked, handed, joined, taken_out), strict=True)
        ),
    )

    assert [row["response"] for row in rows_of(path)] == [None, "7", "I am sure.\n\n7", "7"]


def langsmith_run(name: str, parent: str | None, outputs: Any, **more: Any) -> dict[str, Any]:
    run = {"id": name, "trace_id": parent or name, "parent_run_id": parent, "run_type": "llm" if parent else "chain"}
    return {
        **run,
        "name": "agent",
        "inputs": {"messages": [{"role": "user", "content": "How many?"}]},
        "outputs": outputs,
        **more,
    }


def test_a_langsmith_run_tree_is_one_sample_with_the_last_answer(tmp_path: Path) -> None:
    """Question, result of the tool and answer were one response; each step was a sample."""
    conversation = {"messages": [HUMAN, ASKS, RESULT, REPLIES]}
    path = log_files.write_lines(
        tmp_path / "runs.jsonl",
        [
            langsmith_run("r1", None, conversation, child_runs=[langsmith_run("s0", "r1", {})]),
            langsmith_run("s1", "r1", {"messages": [ASKS]}),
            langsmith_run("r2", None, {}, error="ToolCrash('gone')"),
            langsmith_run("r3", None, {"messages": [HUMAN, ASKS, RESULT]}),
        ],
    )
    told = [(row["id"], row["question"], row["response"]) for row in rows_of(path)]

    assert told == [("r1", "How many?", "It is 7."), ("r2", "How many?", None), ("r3", "How many?", None)]
    assert "1 runs are steps of 3 others" in notices_of(path)[0]


def test_langsmith_steps_without_their_root_are_refused(tmp_path: Path) -> None:
    path = log_files.write_lines(tmp_path / "runs.jsonl", [langsmith_run("s1", "r1", {"messages": [ASKS]})])

    with pytest.raises(DatasetError, match="only steps, which are no answers"):
        rows_of(path)


def test_a_chat_that_ends_in_a_call_has_no_response_and_says_how_it_ended(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
    path = log_files.write_lines(
        tmp_path / "chats.jsonl",
        [
            {"id": "a", "messages": [{"role": "user", "content": "How many?"}, asked], "finish_reason": "tool_calls"},
            {"id": "b", "messages": [{"role": "user", "content": "How many?"}], "error": {"message": "refused: 422"}},
            {"id": "c", "messages": [{"role": "user", "content": "How many?"}, SAID], "finish_reason": "length"},
        ],
    )
    first, second, third = rows_of(path)

    assert (first["response"], first["withheld_text"]) == (None, "Let me see.")
    assert (second["response"], second["response_error"]) == (None, "refused: 422")
    assert (third["response"], third["stop_reason"]) == ("It is 7.", "length")


def test_a_batch_whose_model_calls_a_tool_has_no_response(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
    openai = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "model": "m"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]}
    responses = {
        "output": [said, {"type": "function_call", "name": "look_up", "arguments": "{}"}],
        "status": "completed",
    }
    anthropic = {
        "type": "succeeded",
        "message": {"content": [{"type": "text", "text": "Let me see."}, USE], "stop_reason": "tool_use"},
    }
    gemini = {
        "candidates": [
            {
                "content": {"parts": [{"text": "Let me see."}, {"functionCall": {"name": "look_up", "args": {}}}]},
                "finishReason": "STOP",
            }
        ]
    }
    files: dict[str, dict[str, Any]] = {
        "chat.jsonl": {"custom_id": "1", "response": {"status_code": 200, "body": openai}, "error": None},
        "responses.jsonl": {"custom_id": "1", "response": {"status_code": 200, "body": responses}, "error": None},
        "anthropic.jsonl": {"custom_id": "1", "result": anthropic},
        "gemini.jsonl": {"key": "1", "response": gemini},
    }
    for name, row in files.items():
        (read,) = rows_of(log_files.write_lines(tmp_path / name, [row]))

        assert (read["response"], "look_up" in read["response_error"]) == (None, True), name


def test_what_a_filter_stopped_is_no_answer_whatever_stands_there(tmp_path: Path) -> None:
    """The words are the provider's: `Content filtered by provider`."""
    row = log_files.promptfoo_row(0, 0, response={"output": "Content filtered", "finishReason": "content_filter"})
    (read,) = rows_of(log_files.write_lines(tmp_path / "results.jsonl", [row]))

    assert (read["response"], read["response_withheld"]) == (None, "content_filter")
    assert read["withheld_text"] == "Content filtered"


# EvalScope: the file of predictions beside the reviews says how an output ended.


def evalscope_review(index: int, text: str) -> dict[str, Any]:
    score = {"value": {"acc": 0.0}, "status": "success", "prediction": text, "main_score_name": "acc"}
    messages = [{"role": "user", "content": f"Question {index}?"}, {"role": "assistant", "content": text}]
    return {"index": index, "target": ["7"], "messages": messages, "sample_score": {"score": score, "group_id": index}}


def evalscope_prediction(index: int, text: str, stop: str) -> dict[str, Any]:
    output = {"choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": stop}], "error": None}
    return {"index": index, "model": "m", "model_output": output, "messages": []}


def evalscope_run(directory: Path, predictions: list[dict[str, Any]] | None) -> Path:
    texts = {0: "It is 7.", 1: "", 2: "Blocked by policy.", 3: "It is"}
    for folder in ("reviews", "predictions"):
        (directory / folder / "m").mkdir(parents=True)
    if predictions is not None:
        log_files.write_lines(directory / "predictions" / "m" / "qa.jsonl", predictions)
    reviews = [evalscope_review(index, text) for index, text in texts.items()]
    return log_files.write_lines(directory / "reviews" / "m" / "qa.jsonl", reviews)


def test_outputs_that_a_filter_stopped_are_told_by_the_predictions_beside_the_reviews(tmp_path: Path) -> None:
    stops = {
        0: ("It is 7.", "stop"),
        1: ("", "content_filter"),
        2: ("Blocked by policy.", "content_filter"),
        3: ("It is", "max_tokens"),
    }
    path = evalscope_run(tmp_path, [evalscope_prediction(index, *told) for index, told in reversed(stops.items())])
    rows = rows_of(path)
    log = recognise(path)

    assert [row["response"] for row in rows] == ["It is 7.", None, None, "It is"]
    assert [row.get("response_withheld") for row in rows] == [None, "content_filter", "content_filter", None]
    assert rows[3]["stop_reason"] == "max_tokens"
    assert log is not None
    assert [file.parts[-3] for file in log.log.companions] == ["predictions"]


def test_reviews_without_predictions_say_that_nobody_knows_how_outputs_ended(tmp_path: Path) -> None:
    path = evalscope_run(tmp_path, None)

    assert [row["response"] for row in rows_of(path)] == ["It is 7.", "", "Blocked by policy.", "It is"]
    assert "nothing says which outputs a filter stopped" in notices_of(path)[0]


def test_predictions_of_another_run_are_not_joined(tmp_path: Path) -> None:
    path = evalscope_run(tmp_path, [evalscope_prediction(0, "It is 8.", "content_filter")])

    assert rows_of(path)[0]["response"] == "It is 7."
    assert "1 predictions in predictions/m/qa.jsonl have another text" in notices_of(path)[0]


# MT-Bench: the second turn.


def mt_bench_turns(*turns: tuple[str, str]) -> str:
    said = "\n\n".join(f"### {who}:\n{text}" for who, text in turns)
    name = "Assistant A's Conversation with User"
    return f"<|The Start of {name}|>\n\n{said}\n\n<|The End of {name}|>"


@pytest.mark.parametrize(
    ("turns", "response"),
    [
        ((("User", "Q1"), ("Assistant A", "A1"), ("User", "Q2"), ("Assistant A", "A2")), "A2"),
        ((("User", "Q1"), ("Assistant A", "A1"), ("User", "Q2"), ("Assistant A", "")), ""),
        ((("User", "Q1"), ("Assistant A", ""), ("User", "Q2"), ("Assistant A", "")), ""),
        ((("User", "Q1"), ("Assistant A", ""), ("User", "Q2"), ("Assistant A", "A2")), "A2"),
        # An answer that plays the user as well: nothing says where it begins.
        ((("User", "Q1"), ("Assistant A", "A1"), ("User", "Q2"), ("Assistant A", "A2"), ("User", "Q3")), None),
    ],
)
def test_the_second_turn_of_mt_bench_is_the_assistants_or_none(
    turns: tuple[tuple[str, str], ...], response: str | None, tmp_path: Path
) -> None:
    row = {
        "question_id": 81,
        "model": "m",
        "judge": ["gpt-4", "single-v1-multi-turn"],
        "judgment": "[[5]]",
        "score": 5,
        "turn": 2,
    }
    (read,) = rows_of(
        log_files.write_lines(tmp_path / "judgments.jsonl", [{**row, "user_prompt": mt_bench_turns(*turns)}])
    )

    assert read["response"] == response
    assert read["question"].startswith("user: Q1")
    assert ("response_error" in read) == (response is None)


# Scorers that grade.


def mlflow_rows(**scores: list[Any]) -> list[dict[str, Any]]:
    count = len(next(iter(scores.values())))
    row = {"request": {"question": "How many?"}, "response": "It is 7.", "expected_response/value": "7"}
    told = [{f"{name}/value": values[index] for name, values in scores.items()} for index in range(count)]
    return [{"trace_id": f"t{index}", **row, **one} for index, one in enumerate(told)]


def test_a_scorer_with_any_value_beyond_0_to_1_grades_as_a_whole(tmp_path: Path) -> None:
    """`length` of 1.0 was *correct*, and its mean 100 %."""
    rows = rows_of(log_files.write_lines(tmp_path / "r.jsonl", mlflow_rows(length=[1.0, 3.0, 0], exact=[1, 0, 1])))

    assert [row[LOG_SCORES]["length"] for row in rows] == [{"value": value, "graded": True} for value in (1.0, 3.0, 0)]
    assert [row[LOG_SCORES]["exact"]["is_correct"] for row in rows] == [True, False, True]


def test_a_scorer_without_a_single_verdict_grades(tmp_path: Path) -> None:
    rows = rows_of(log_files.write_lines(tmp_path / "r.jsonl", mlflow_rows(tone=["formal", "casual"], near=[0.3, 0.4])))

    assert [row[LOG_SCORES]["tone"] for row in rows] == [
        {"value": word, "graded": True} for word in ("formal", "casual")
    ]
    assert [row[LOG_SCORES]["near"] for row in rows] == [
        {"value": value, "score": value, "graded": True} for value in (0.3, 0.4)
    ]


def test_the_tools_own_verdict_beside_a_number_stands(tmp_path: Path) -> None:
    """promptfoo says `pass` beside a score of any size."""
    rows = [
        log_files.promptfoo_row(
            number, 0, gradingResult={"pass": passed, "score": score, "reason": "", "componentResults": []}
        )
        for number, (passed, score) in enumerate([(True, 5), (False, 1)])
    ]
    read = rows_of(log_files.write_lines(tmp_path / "results.jsonl", rows))

    assert [row[LOG_SCORES]["promptfoo"]["is_correct"] for row in read] == [True, False]


def test_bare_scores_of_a_table_are_read_by_all_their_values() -> None:
    rows = [(1, {"scores": {"length": 1, "mine": True}}), (2, {"scores": {"length": 4, "mine": False}}), (3, {})]
    graded = [row.get("scores") for _, row in grade_table(lambda: iter(rows))]

    assert graded == [
        {"length": {"value": 1, "graded": True}, "mine": True},
        {"length": {"value": 4, "graded": True}, "mine": False},
        None,
    ]
