"""One scene as every tracer keeps it: a question, a call that fails beside one that does not, another try, an answer.

Whoever wrote it, the same steps are read of it.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files, trace_files
from tests.unit.datasets.importers.log_rows import notices_of, rows_of
from tests.unit.datasets.importers.trace_files import (
    ANSWER,
    CALLS,
    ENDLESS,
    FOUND,
    PLAN,
    QUESTION,
    SCENE,
    SYSTEM,
)

from mixseek.datasets.importers.registry import recognise
from mixseek.errors import DatasetError

Row = dict[str, Any]
Writer = Callable[[Path, Any], Path]


def lines_of(make: Callable[[Any], Any]) -> Writer:
    return lambda folder, scene: log_files.write_lines(folder / "log.jsonl", [make(scene), make(scene)])


def named(make: Callable[[str, Any], Any]) -> Writer:
    return lambda folder, scene: log_files.write_lines(folder / "log.jsonl", [make("t1", scene), make("t2", scene)])


def inspect_log(folder: Path, scene: Any) -> Path:
    messages = trace_files.inspect_messages(scene)
    last = {"role": "assistant", "content": scene[-1][0], "tool_calls": messages[-1].get("tool_calls")}
    output = {"choices": [{"message": last, "stop_reason": "stop"}], "completion": scene[-1][0]}
    samples = [
        log_files.inspect_sample("a", epoch, input=QUESTION, messages=messages, output=output) for epoch in (1, 2)
    ]
    return log_files.write_json(folder / "log.json", {**log_files.INSPECT_HEADER, "samples": samples})


def agents_row(scene: Any) -> Row:
    items = trace_files.responses_items(scene)
    last = scene[-1][0] if not scene[-1][1] else None
    return {"input": items, "final_output": last}


def pydantic_report(folder: Path, scene: Any) -> Path:
    answer = scene[-1][0] if not scene[-1][1] else None
    output = {"answer": answer, "messages": trace_files.pydantic_messages(scene)}
    cases = [{"name": name, "inputs": QUESTION, "output": output, "scores": {}} for name in ("one", "two")]
    return log_files.write_json(folder / "report.json", {"name": "counter", "cases": cases, "failures": []})


# How each tool keeps the scene; whether its calls say by themselves that they went well.
WRITERS: dict[str, tuple[Writer, bool]] = {
    "chat of OpenAI": (lines_of(lambda scene: {"messages": trace_files.openai_messages(scene)}), False),
    "chat of Anthropic": (lines_of(lambda scene: {"messages": trace_files.anthropic_messages(scene)}), True),
    "inspect": (inspect_log, True),
    "openai_agents": (lines_of(agents_row), False),
    "pydantic_ai": (lines_of(lambda scene: {"messages": trace_files.pydantic_messages(scene)}), True),
    "pydantic_evals": (pydantic_report, True),
    "ragas": (
        lines_of(lambda scene: {"user_input": trace_files.langchain_messages(scene), "reference": "54"}),
        True,
    ),
    "langsmith_runs": (named(trace_files.langsmith_tree), True),
    "mlflow_traces": (named(trace_files.mlflow_trace), True),
    "otlp of GenAI": (
        lambda folder, scene: log_files.write_lines(
            folder / "log.jsonl",
            [trace_files.request(trace_files.genai_spans(name, scene)) for name in ("t1", "t2")],
        ),
        True,
    ),
    "otlp of OpenInference": (
        lambda folder, scene: log_files.write_json(
            folder / "log.json",
            trace_files.request(
                [span for name in ("t1", "t2") for span in trace_files.openinference_spans(name, scene)]
            ),
        ),
        True,
    ),
}
EVERY = pytest.mark.parametrize(("write", "marks"), WRITERS.values(), ids=WRITERS)


def calls_in(row: Row) -> list[Row]:
    return [step for step in row["steps"] if step["role"] == "tool"]


def told(row: Row) -> list[tuple[str, Any, bool]]:
    return [(step["tool"], step["arguments"], step["status"] == "error") for step in calls_in(row)]


@EVERY
def test_the_scene_is_read_alike_whoever_wrote_it(write: Writer, marks: bool, tmp_path: Path) -> None:
    rows = rows_of(write(tmp_path, SCENE))
    for row in rows:
        first, second, third = calls_in(row)

        assert (row["question"], row["response"]) == (QUESTION, ANSWER)
        assert told(row) == CALLS
        assert {step["status"] for step in (second, third)} == ({"ok"} if marks else {None})
        assert trace_files.FAULT in first["result"]
        assert json.loads(third["result"]) == FOUND
        assert [step["text"] for step in row["steps"] if step["role"] == "assistant"][-1] == ANSWER
        # The call belongs to what was said before it.
        assert row["steps"][third["parent"] - 1]["text"] == trace_files.RETRY
    assert len(rows) == 2


@EVERY
def test_a_run_that_ends_in_a_call_has_no_answer(write: Writer, marks: bool, tmp_path: Path) -> None:
    """What was said before it is kept beside, and the call has no result."""
    row = rows_of(write(tmp_path, ENDLESS))[0]
    last = calls_in(row)[-1]

    assert row["response"] is None
    assert "find_parcel" in row["response_error"]
    assert (last["arguments"], last.get("result"), last["status"]) == ({"number": 78}, None, None)
    assert row.get("withheld_text", PLAN) == PLAN


@EVERY
def test_one_question_and_one_answer_have_no_steps(write: Writer, marks: bool, tmp_path: Path) -> None:
    """Their key stays what it was before there were steps."""
    row = rows_of(write(tmp_path, ((ANSWER, ()),)))[0]

    assert (row["question"], row["response"]) == (QUESTION, ANSWER)
    assert "steps" not in row


def test_spans_are_found_in_whatever_order_and_request_they_come(tmp_path: Path) -> None:
    """Children before their parents, two traces interleaved, a request for each span."""
    one, two = (trace_files.genai_spans(name) for name in ("t1", "t2"))
    mixed = [span for pair in zip(reversed(one), two, strict=True) for span in pair]
    path = log_files.write_lines(tmp_path / "spans.jsonl", [trace_files.request([span]) for span in mixed])
    rows = rows_of(path)

    assert sorted(row["id"] for row in rows) == ["t1", "t2"]
    assert [told(row) for row in rows] == [CALLS, CALLS]
    assert {row["steps"][0]["text"] for row in rows} == {SYSTEM}
    assert rows[0]["target_model"] == "model-x"


def test_a_list_of_requests_is_read_like_lines(tmp_path: Path) -> None:
    requests = [trace_files.request(trace_files.openinference_spans(name)) for name in ("t1", "t2")]
    rows = rows_of(log_files.write_json(tmp_path / "requests.json", requests))

    assert [told(row) for row in rows] == [CALLS, CALLS]


def test_times_of_spans_are_those_of_their_steps(tmp_path: Path) -> None:
    path = log_files.write_json(tmp_path / "trace.json", trace_files.request(trace_files.genai_spans("t1")))
    (row,) = rows_of(path)
    first = calls_in(row)[0]

    assert (first["time"], first["seconds"]) == ("2026-09-21T14:13:22Z", 1.0)


@pytest.mark.parametrize("spans", [trace_files.genai_spans, trace_files.openinference_spans])
def test_an_answer_that_a_limit_cut_off_says_so(spans: Any, tmp_path: Path) -> None:
    stop = "length"
    (row,) = rows_of(log_files.write_json(tmp_path / "t.json", trace_files.request(spans("t1", stop=stop))))

    assert (row["response"], row["stop_reason"]) == (ANSWER, stop)
    assert row["steps"][-1]["status"] == "cut_off"
    # Only the message that it ended is cut off.
    assert [step.get("status") for step in row["steps"] if step["role"] == "assistant"] == [None, None, "cut_off"]


def test_a_failed_request_that_nothing_follows_is_an_error(tmp_path: Path) -> None:
    why = "422: refused by a policy"
    asked = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([trace_files.genai_message("user", QUESTION)]),
    }
    spans = [
        trace_files.otlp_span("t1", "chat", "root", 1, asked, why),
        trace_files.otlp_span("t1", "root", None, 0, {"gen_ai.operation.name": "invoke_agent"}, why),
    ]
    (row,) = rows_of(log_files.write_json(tmp_path / "t.json", trace_files.request(spans)))

    assert (row["question"], row["response"], row["response_error"]) == (QUESTION, None, why)


def test_an_agent_that_another_one_called_is_told_below_that_call(tmp_path: Path) -> None:
    """What it said is no answer, and what it was asked no question of the user."""
    inner = trace_files.genai_spans("t1", ((f"inner {ANSWER}", ()),), "Find parcel 77.")[0]
    outer = trace_files.genai_spans("t1")
    tool = next(span for span in outer if span["name"] == "tool2")
    inner |= {"spanId": "inner", "parentSpanId": tool["spanId"], "startTimeUnixNano": tool["startTimeUnixNano"]}
    (row,) = rows_of(log_files.write_json(tmp_path / "t.json", trace_files.request([inner, *outer])))
    said = next(step for step in row["steps"] if step.get("text") == f"inner {ANSWER}")

    assert (row["question"], row["response"]) == (QUESTION, ANSWER)
    assert row["steps"][said["parent"] - 1]["tool"] == "find_parcel"
    assert told(row) == CALLS


def test_traces_without_a_model_or_a_tool_are_refused_and_beside_others_counted(tmp_path: Path) -> None:
    silent = trace_files.otlp_span("t9", "GET /", None, 0, {"http.method": "GET"})
    alone = log_files.write_json(tmp_path / "alone.json", trace_files.request([silent]))
    spans = [silent, *trace_files.genai_spans("t1")]
    beside = log_files.write_json(tmp_path / "beside.json", trace_files.request(spans))

    with pytest.raises(DatasetError, match="1 OpenTelemetry traces without a request to a model or a tool"):
        rows_of(alone)
    assert [row["id"] for row in rows_of(beside)] == ["t1"]
    assert any("1 traces have neither a model nor a tool" in notice for notice in notices_of(beside))


def test_a_span_without_its_trace_is_named_by_its_place(tmp_path: Path) -> None:
    bad = {**trace_files.genai_spans("t1")[0], "traceId": None}
    lines = [trace_files.request(trace_files.genai_spans("t1")), trace_files.request([bad])]
    path = log_files.write_lines(tmp_path / "spans.jsonl", lines)

    with pytest.raises(DatasetError, match=r"spans\.jsonl: line 2, span 1: an OpenTelemetry span without `traceId`"):
        rows_of(path)


def test_a_file_of_spans_that_is_cut_short_says_so(tmp_path: Path) -> None:
    lines = [trace_files.request(trace_files.genai_spans(name)) for name in ("t1", "t2")]
    whole = log_files.write_lines(tmp_path / "whole.jsonl", lines).read_bytes()
    path = tmp_path / "cut.jsonl"
    path.write_bytes(whole[:-100])

    assert [row["id"] for row in rows_of(path)] == ["t1"]
    assert notices_of(path) == ["line 2, the last, is cut short and left out"]


def test_documents_of_a_retriever_are_contexts(tmp_path: Path) -> None:
    """Under each convention, once each, with their ids."""
    documents = {
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.content": "Parcels wait in Oslo.",
        "retrieval.documents.1.document.id": "d2",
        "retrieval.documents.1.document.content": "Letters do not.",
    }
    about = {"openinference.span.kind": "RETRIEVER", "input.value": "parcels", **documents}
    spans = [trace_files.otlp_span("t1", "search", "root", 1, about), *trace_files.openinference_spans("t1")]
    (row,) = rows_of(log_files.write_json(tmp_path / "t.json", trace_files.request(spans)))
    trace = trace_files.mlflow_trace("t1")
    found = [
        {"page_content": text, "id": name}
        for name, text in (("d1", "Parcels wait in Oslo."), ("d2", "Letters do not."))
    ]
    trace["data"]["spans"] += [
        trace_files.mlflow_span("search", "counter0", 1, "RETRIEVER", {"q": "parcels"}, found)
    ] * 2
    (of_mlflow,) = rows_of(log_files.write_json(tmp_path / "m.json", [trace]))

    assert row["contexts"] == of_mlflow["contexts"]
    assert row["contexts"] == [
        {"id": "d1", "text": "Parcels wait in Oslo."},
        {"id": "d2", "text": "Letters do not."},
    ]
    # What was retrieved is no call of a tool.
    assert told(row) == told(of_mlflow) == CALLS


def test_runs_of_one_thread_are_one_conversation(tmp_path: Path) -> None:
    """Each run repeats what was said before it, in its input and in its output."""
    first = trace_files.langsmith_tree("r1", thread="talk")
    asked_then = "And parcel 78?"
    before = trace_files.langchain_messages()
    second = trace_files.langsmith_tree("r2", (("It is lost.", ()),), asked_then, thread="talk")
    second["start_time"] = "2026-09-21T15:00:00+00:00"
    for child in second["child_runs"]:
        child["start_time"] = "2026-09-21T15:00:01+00:00"
    second["inputs"]["messages"] = [*before, {"role": "user", "content": asked_then}]
    second["outputs"]["messages"] = [*before, *second["outputs"]["messages"]]
    # Another run of the same thread that begins as the first one did is a repeat.
    again = {**trace_files.langsmith_tree("r3", thread="talk"), "start_time": "2026-09-21T16:00:00+00:00"}
    again["child_runs"] = [{**child, "start_time": "2026-09-21T16:00:01+00:00"} for child in again["child_runs"]]
    rows = rows_of(log_files.write_lines(tmp_path / "runs.jsonl", [first, second, again]))

    assert [(row["id"], row["response"]) for row in rows] == [("talk", "It is lost."), ("talk#2", ANSWER)]
    assert [told(row) for row in rows] == [CALLS, CALLS]
    # Its plan was said by the agent on the way; all that anybody spoke up to the last question was asked.
    spoken = [step["text"] for step in rows[0]["steps"] if step["role"] == "user"]
    assert spoken == [QUESTION, asked_then]
    assert rows[0]["question"].endswith(f"user: {asked_then}")
    assert [step["role"] for step in rows[0]["steps"]].count("system") == 1


@pytest.mark.parametrize("make", [trace_files.flatten, lambda tree: [tree], lambda tree: [tree, *tree["child_runs"]]])
def test_flat_runs_trees_and_both_give_the_same(make: Any, tmp_path: Path) -> None:
    rows = rows_of(log_files.write_lines(tmp_path / "runs.jsonl", make(trace_files.langsmith_tree("r1"))))

    assert [(row["id"], row["response"], told(row)) for row in rows] == [("r1", ANSWER, CALLS)]


def test_roots_alone_have_the_steps_of_their_messages(tmp_path: Path) -> None:
    root = {key: value for key, value in trace_files.langsmith_tree("r1").items() if key != "child_runs"}
    (row,) = rows_of(log_files.write_lines(tmp_path / "runs.jsonl", [root, {**root, "id": "r2", "trace_id": "r2"}]))[:1]

    assert (row["response"], told(row)) == (ANSWER, CALLS)


def test_one_conversation_is_one_file(tmp_path: Path) -> None:
    """A list of messages is no list of rows; nor is a list in each line."""
    messages = {
        "openai": trace_files.openai_messages(),
        "anthropic": trace_files.anthropic_messages(),
        "pydantic": trace_files.pydantic_messages(),
        "responses": trace_files.responses_items(),
    }
    for name, listed in messages.items():
        (alone,) = rows_of(log_files.write_json(tmp_path / f"{name}.json", listed))
        lines = tmp_path / f"{name}.jsonl"
        lines.write_text(f"{json.dumps(listed)}\n" * 2)
        nested = log_files.write_json(tmp_path / f"{name}-nested.json", [listed, listed])

        assert (alone["response"], told(alone)) == (ANSWER, CALLS)
        assert [told(row) for path in (lines, nested) for row in rows_of(path)] == [CALLS] * 4


def test_a_line_that_is_no_list_is_named(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps(trace_files.openai_messages()) + '\n{"messages": []}\n')

    with pytest.raises(DatasetError, match="item 2 is no list of messages"):
        rows_of(path)


def test_what_a_message_holds_beside_its_texts_is_counted(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lG"}},
        {"type": "input_audio", "input_audio": {}},
    ]
    thought = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": ANSWER}]
    row = {"messages": [{"role": "user", "content": content}, {"role": "assistant", "content": thought}]}
    path = log_files.write_lines(tmp_path / "chats.jsonl", [row, row])
    read = rows_of(path)[0]

    assert list(read["steps"][0]["images"]) == ["data:image/png;base64,AAAA", "data:image/gif;base64,R0lG"]
    assert (read["question"], read["response"]) == (QUESTION, ANSWER)
    assert notices_of(path) == ["parts of messages that are not read: 2 input_audio, 2 thinking"]


def test_a_call_and_its_result_find_each_other_without_an_id(tmp_path: Path) -> None:
    """RAGAS writes neither ids nor names; results come in the order of the calls."""
    row = {"user_input": trace_files.langchain_messages(ids=False), "reference": "54"}
    (read, _) = rows_of(log_files.write_lines(tmp_path / "ragas.jsonl", [row, row]))
    results = [step["result"] for step in calls_in(read)]

    assert [(tool, arguments) for tool, arguments, _ in told(read)] == [call[:2] for call in CALLS]
    assert results == [trace_files.FAULT, '{"value": 54}', json.dumps(FOUND)]


def test_arguments_that_are_no_json_stay_the_text_that_they_are(tmp_path: Path) -> None:
    messages = trace_files.openai_messages()
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"number": 77'
    (row, _) = rows_of(log_files.write_lines(tmp_path / "c.jsonl", [{"messages": messages}] * 2))

    assert calls_in(row)[0]["arguments"] == '{"number": 77'


def test_a_tool_of_the_provider_is_a_step_between_what_is_said(tmp_path: Path) -> None:
    """It asks nothing of anybody: the text behind its result is the answer, and what stands before it is not."""
    content = [
        {"type": "text", "text": PLAN},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "parcel 77"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"title": "Oslo"}]},
        {"type": "text", "text": ANSWER},
    ]
    row = {"messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": content}]}
    (read, _) = rows_of(log_files.write_lines(tmp_path / "c.jsonl", [row, row]))

    assert read["response"] == ANSWER
    assert [step.get("text") or step["tool"] for step in read["steps"]] == [QUESTION, PLAN, "web_search", ANSWER]


def test_the_output_of_a_pydantic_ai_run_is_its_answer_also_where_a_call_hands_it_in(tmp_path: Path) -> None:
    handed = {"part_kind": "tool-call", "tool_name": "final_result", "args": {"place": "Oslo"}, "tool_call_id": "f"}
    done = {
        "part_kind": "tool-return",
        "tool_name": "final_result",
        "content": "Final result processed.",
        "tool_call_id": "f",
    }
    history = [
        {
            "kind": "request",
            "parts": [
                {"part_kind": "system-prompt", "content": SYSTEM},
                {"part_kind": "user-prompt", "content": QUESTION},
            ],
        },
        {"kind": "response", "parts": [handed], "finish_reason": "tool_call"},
        {"kind": "request", "parts": [done]},
    ]
    rows = rows_of(
        log_files.write_lines(tmp_path / "h.jsonl", [{"messages": history}, {"messages": history, "output": FOUND}])
    )

    assert [row["response"] for row in rows] == ["Oslo", '{"place":"Oslo"}']
    assert {row["question"] for row in rows} == {QUESTION}
    assert [step["role"] for step in rows[0]["steps"]] == ["system", "user", "tool"]


def test_a_deepeval_case_has_its_tools_and_documents(tmp_path: Path) -> None:
    """In its own file, in what Python dumps, and as rows of a dataset."""
    calls = [
        {"name": "find_parcel", "inputParameters": {"number": 77}, "output": {"error": trace_files.FAULT}},
        {"name": "multiply", "inputParameters": {"a": 6, "b": 9}, "output": {"value": 54}},
    ]
    own = {"name": "c", "input": QUESTION, "actualOutput": ANSWER, "toolsCalled": calls, "retrievalContext": ["Oslo."]}
    plain = {"input": QUESTION, "actual_output": ANSWER, "tools_called": calls, "retrieval_context": ["Oslo."]}
    paths = [
        log_files.write_json(tmp_path / "run.json", {"testCases": [own], "metricsScores": []}),
        log_files.write_json(tmp_path / "cases.json", [plain, plain]),
    ]
    for path in paths:
        row = rows_of(path)[0]

        assert told(row) == CALLS[:2]
        assert (row["question"], row["response"]) == (QUESTION, ANSWER)
        assert row["contexts"] == [{"id": "1", "text": "Oslo."}]


def test_a_deepeval_conversation_is_a_sample_with_the_tools_of_its_turns(tmp_path: Path) -> None:
    calls = [{"name": "multiply", "input_parameters": {"a": 6, "b": 9}, "output": {"value": 54}}]
    turns = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": PLAN, "retrieval_context": ["One."]},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": ANSWER, "toolsCalled": calls, "retrieval_context": ["Two.", "One."]},
    ]
    case = {"name": "talk", "turns": turns, "expectedOutcome": "54"}
    run = {"testCases": [], "conversationalTestCases": [case, {"name": "empty"}], "metricsScores": []}
    path = log_files.write_json(tmp_path / "run.json", run)
    (row,) = rows_of(path)

    assert row["question"] == f"user: {QUESTION}\n\nassistant: {PLAN}\n\nuser: And?"
    assert (row["response"], row["ground_truth"], told(row)) == (ANSWER, "54", [CALLS[1]])
    assert [context["text"] for context in row["contexts"]] == ["One.", "Two.", "One."]
    assert notices_of(path) == ["1 conversational test cases are left out: they have no turns"]


def test_calls_that_promptfoo_only_asked_for_are_steps_without_a_result(tmp_path: Path) -> None:
    calls = [trace_files.openai_call(call) for call in (trace_files.FIND, trace_files.SUM)]
    row = log_files.promptfoo_row(0, 0, response={"output": calls, "finishReason": "tool_calls"})
    row["vars"] = {"question": QUESTION, "context": "Parcels wait in Oslo."}
    (read,) = rows_of(log_files.write_lines(tmp_path / "results.jsonl", [row, row]))[:1]

    assert read["response"] is None
    assert [(step["tool"], step["arguments"], step["status"]) for step in calls_in(read)] == [
        ("find_parcel", {"number": 77}, None),
        ("multiply", {"a": 6, "b": 9}, None),
    ]
    assert read["contexts"] == [{"id": "1", "text": "Parcels wait in Oslo."}]


def test_an_inspect_sample_that_a_limit_ended_says_which(tmp_path: Path) -> None:
    """The last tool ran, as its event says; no message told its result any more."""
    messages = trace_files.inspect_messages(ENDLESS)
    output = {"choices": [{"message": messages[-1], "stop_reason": "tool_calls"}], "completion": ""}
    events = [
        {"event": "tool", "id": "c4", "function": "find_parcel", "result": "lost", "timestamp": "2026-09-21T14:13:20Z"}
    ]
    limit = {"type": "message", "limit": 7}
    sample = log_files.inspect_sample("a", input=QUESTION, messages=messages, output=output, events=events, limit=limit)
    path = log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [sample]})
    (row,) = rows_of(path)
    last = calls_in(row)[-1]

    assert (row["response"], row["stop_reason"]) == (None, "message_limit")
    assert "message limit of 7" in row["response_error"]
    assert (last["result"], last["status"], last["time"]) == ("lost", "ok", "2026-09-21T14:13:20Z")


def test_an_inspect_call_that_crashed_is_marked_by_its_event(tmp_path: Path) -> None:
    messages = trace_files.inspect_messages(((PLAN, (trace_files.OPEN,)),))
    events = [{"event": "tool", "id": "c4", "function": "find_parcel", "result": "", "failed": True}]
    sample = log_files.inspect_sample("a", input=QUESTION, messages=messages, events=events, error={"message": "Crash"})
    (row,) = rows_of(log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [sample]}))

    assert (row["response"], row["response_error"]) == (None, "Crash")
    assert told(row) == [("find_parcel", {"number": 78}, True)]


def test_what_users_said_after_the_question_of_an_inspect_sample_is_asked_as_well(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": PLAN},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": ANSWER},
    ]
    output = {"choices": [{"message": talk[-1], "stop_reason": "max_tokens"}], "completion": ANSWER}
    sample = log_files.inspect_sample("a", input=QUESTION, messages=talk, output=output)
    (row,) = rows_of(log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [sample]}))

    assert row["question"] == f"user: {QUESTION}\n\nassistant: {PLAN}\n\nuser: And?"
    assert (row["stop_reason"], row["steps"][-1]["status"]) == ("max_tokens", "cut_off")


@pytest.mark.parametrize("name", ["retrieved_contexts", "contexts"])
def test_columns_of_ragas_are_contexts_also_as_python_prints_them(name: str, tmp_path: Path) -> None:
    path = tmp_path / "ragas.csv"
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["user_input", name, "response", "reference", "faithfulness"])
        table.writerow([QUESTION, str(["Oslo.", "Rome."]), ANSWER, "54", "0.5"])
    (row,) = rows_of(path)

    assert [context["text"] for context in row["contexts"]] == ["Oslo.", "Rome."]
    assert (row["response"], row["ground_truth"], row["scores"]["faithfulness"]["score"]) == (ANSWER, "54", 0.5)


def test_a_plain_dataset_is_no_log_of_ragas(tmp_path: Path) -> None:
    path = log_files.write_lines(tmp_path / "rows.jsonl", [{"user_input": "1+1?", "output": "2"}] * 2)

    assert recognise(path) is None


def test_a_trace_whose_messages_were_not_captured_says_so(tmp_path: Path) -> None:
    """Its tools are there, and nobody takes a result for the end of the run."""
    spans = trace_files.genai_spans("t1")
    for span in spans:
        span["attributes"] = [item for item in span["attributes"] if "messages" not in item["key"]]
    (row,) = rows_of(log_files.write_json(tmp_path / "t.json", trace_files.request(spans)))

    assert (row["response"], told(row)) == (None, CALLS)
    assert "content was not captured" in row["response_error"]


def test_a_tool_that_names_its_error_failed_also_without_a_status(tmp_path: Path) -> None:
    spans = trace_files.genai_spans("t1")
    tool = next(span for span in spans if span["name"] == "tool3")
    tool["attributes"].append(trace_files.attribute("error.type", "Timeout"))
    (row,) = rows_of(log_files.write_json(tmp_path / "t.json", trace_files.request(spans)))

    assert [failed for _, _, failed in told(row)] == [True, True, False]


def test_a_call_that_promptfoo_wrote_into_a_text_is_no_answer(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "u1", "name": "find_parcel", "input": {"number": 77}}
    rows = [
        log_files.promptfoo_row(0, 0, response={"output": f"{PLAN}\n\n{json.dumps(call)}", "finishReason": "tool_use"}),
        log_files.promptfoo_row(1, 0, response={"output": 'Say "tool_use".\n\n{}', "finishReason": "stop"}),
    ]
    called, plain = rows_of(log_files.write_lines(tmp_path / "results.jsonl", rows))

    assert (called["response"], called["withheld_text"]) == (None, PLAN)
    assert told(called) == [(*CALLS[0][:2], False)]
    assert (plain["response"], "steps" in plain) == ('Say "tool_use".\n\n{}', False)


def test_a_table_of_deepeval_has_its_documents_in_one_cell(tmp_path: Path) -> None:
    header = ["input", "actual_output", "retrieval_context", "tools_called"]
    calls = [{"name": "multiply", "input_parameters": {"a": 6, "b": 9}, "output": {"value": 54}}]
    path = log_files.write_table(tmp_path / "c.csv", header, [[QUESTION, ANSWER, "One.|Two.", json.dumps(calls)]])
    (row,) = rows_of(path)

    assert [context["text"] for context in row["contexts"]] == ["One.", "Two."]
    assert told(row) == [CALLS[1]]
