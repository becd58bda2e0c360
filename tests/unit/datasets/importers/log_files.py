"""Logs of other tools, small and written here: each function puts one shape into a directory and names the file."""

import csv
import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTANDARD = 93


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def write_table(path: Path, header: list[str], rows: Iterable[list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


# Inspect.


def inspect_sample(name: str, epoch: int = 1, **changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "So the answer is 7."}
    sample = {
        "id": name,
        "epoch": epoch,
        "input": "How many?",
        "target": "7",
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "completion": "So the answer is 7."},
        "scores": {"match": {"value": "C", "explanation": "it matches"}},
        "metadata": {"topic": "numbers"},
    }
    return {**sample, **changes}


INSPECT_HEADER = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "counting",
        "model": "openai/model-x",
        "packages": {"inspect_ai": "0.3.99"},
        "dataset": {"sample_ids": ["a", "b"]},
        "config": {"epochs": 2},
    },
}
INSPECT_SAMPLES = (
    inspect_sample("a"),
    inspect_sample("a", 2, error={"message": "boom"}, output={"choices": [], "completion": ""}, scores={}),
    inspect_sample("b", scores={"match": {"value": float("nan"), "reason": "grader_failed"}}),
    inspect_sample("b", 2, scores={"match": {"value": "P"}}),
)


def inspect_json(directory: Path) -> Path:
    return write_json(directory / "log.json", {**INSPECT_HEADER, "samples": INSPECT_SAMPLES})


def inspect_deflated(directory: Path) -> Path:
    path = directory / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(INSPECT_HEADER))
        for sample in INSPECT_SAMPLES:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(INSPECT_HEADER))
    return path


def inspect_zstandard(directory: Path) -> Path:
    members = {f"samples/{one['id']}_epoch_{one['epoch']}.json": json.dumps(one) for one in INSPECT_SAMPLES}
    return write_zstandard(directory / "log.eval", {**members, "header.json": json.dumps(INSPECT_HEADER)})


def write_zstandard(path: Path, members: Mapping[str, str], sizes: Mapping[str, int] | None = None) -> Path:
    """A zip whose members are packed as Inspect packs them."""
    local, central = b"", b""
    for name, text in members.items():
        packed = pack(text)
        size = (sizes or {}).get(name, len(text.encode()))
        common = struct.pack(
            "<HHHHHIIIHH", 45, 0, ZSTANDARD, 0, 0, zlib.crc32(text.encode()), len(packed), size, len(name), 0
        )
        central += b"PK\x01\x02" + struct.pack("<H", 45) + common + struct.pack("<HHHII", 0, 0, 0, 0, len(local))
        central += name.encode()
        local += b"PK\x03\x04" + common + name.encode() + packed
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(members), len(members), len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return path


def pack(text: str) -> bytes:
    """As Inspect packs a member: one frame."""
    return zstd.compress(text.encode())


# Harnesses.


def lm_eval_row(number: int, filter_name: str, score: float, **changes: Any) -> dict[str, Any]:
    shown = [{"role": "user", "content": "2+5?"}, {"role": "assistant", "content": "7"}]
    prompt = json.dumps([*shown, {"role": "user", "content": f"Q{number}?"}])
    row = {
        "doc_id": number,
        "doc": {"id": f"q{number}", "question": f"Q{number}?"},
        "target": "7",
        "arguments": {"gen_args_0": {"arg_0": [prompt], "arg_1": {}}},
        "resps": [["It is 7.", "It is 8."]],
        "filtered_resps": ["7"],
        "filter": filter_name,
        "metrics": ["exact_match"],
        "exact_match": score,
    }
    return {**row, **changes}


def lm_eval(directory: Path) -> Path:
    write_json(
        directory / "results_2026-01-01T00-00-00.000000.json",
        {"results": {}, "lm_eval_version": "0.4.99", "model_name": "model-x", "config": {"model": "hf"}},
    )
    rows = [lm_eval_row(number, name, score) for name, score in (("strict", 0.0), ("none", 1.0)) for number in (0, 1)]
    return write_lines(directory / "samples_count_2026-01-01T00-00-00.000000.jsonl", rows)


def lm_eval_choices(directory: Path) -> Path:
    choices = {
        f"gen_args_{index}": {"arg_0": "Which?", "arg_1": f" {name}"} for index, name in enumerate(("red", "blue"))
    }
    row = lm_eval_row(0, "none", 1.0, arguments=choices, target="1", resps=[[["-2.0", "False"]], [["-0.5", "True"]]])
    return write_lines(directory / "samples_colour.jsonl", [row])


def helm(directory: Path) -> Path:
    def state(name: str, text: str, **result: Any) -> dict[str, Any]:
        references = [{"output": {"text": "red"}, "tags": []}, {"output": {"text": "blue"}, "tags": ["correct"]}]
        return {
            "instance": {"input": {"text": "Which?"}, "references": references, "id": name},
            "train_trial_index": 0,
            "output_mapping": {"A": "red", "B": "blue"},
            "request": {"model": "model-x"},
            "result": {"success": True, "completions": [{"text": text}], **result},
        }

    states = [state("h1", "B"), state("h2", "", success=False, completions=[], error="timeout")]
    stats = [
        {
            "instance_id": "h1",
            "train_trial_index": 0,
            "stats": [
                {"name": {"name": "exact_match"}, "count": 1, "mean": 1.0},
                {"name": {"name": "num_references"}, "count": 1, "mean": 2.0},
            ],
        }
    ]
    write_json(directory / "per_instance_stats.json", stats)
    adapter = {"method": "multiple_choice_joint"}
    return write_json(directory / "scenario_state.json", {"adapter_spec": adapter, "request_states": states})


def evalscope(directory: Path) -> Path:
    def review(index: int, group: int, generation: int, score: dict[str, Any]) -> dict[str, Any]:
        messages = [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": "B", "model": "model-x"}]
        told = {"score": score, "group_id": group, "generation_index": generation, "sample_metadata": {}}
        return {"index": index, "target": ["B", "blue"], "messages": messages, "sample_score": told}

    fine = {"value": {"acc": 1.0}, "status": "success", "prediction": "B", "main_score_name": "acc"}
    summary = {"failures": {"parse_error": 1}, "error": "no judge produced a usable verdict"}
    failed = {"value": {"bleu-1": 0.0}, "status": "degraded", "prediction": "B", "judge_summary": summary}
    return write_lines(
        directory / "quiz.jsonl", [review(0, 0, 0, failed), review(1, 0, 1, fine), review(2, 1, 0, fine)]
    )


# Test suites.


def promptfoo_row(test: int, prompt: int, **changes: Any) -> dict[str, Any]:
    component = {"pass": True, "score": 0.8, "reason": "fits", "assertion": {"type": "llm-rubric", "metric": "agrees"}}
    row = {
        "promptIdx": prompt,
        "testIdx": test,
        "vars": {"question": "How many?", "reference": "7"},
        "prompt": {"raw": "Say: How many?", "label": "Say: {{question}}"},
        "provider": {"id": "openai:x", "label": f"model-{prompt}"},
        "response": {"output": "It is 7.", "finishReason": "stop"},
        "testCase": {"description": "count", "metadata": {"topic": "numbers"}},
        "success": True,
        "score": 0.8,
        "failureReason": 0,
        "gradingResult": {"pass": True, "score": 0.8, "reason": "fits", "componentResults": [component]},
    }
    return {**row, **changes}


PROMPTFOO_FAILED = {"response": None, "error": "API error: 500", "failureReason": 2, "gradingResult": None}
PROMPTFOO_ROWS = (
    promptfoo_row(0, 0),
    promptfoo_row(0, 1, **PROMPTFOO_FAILED),
    promptfoo_row(1, 0),
    promptfoo_row(1, 1),
)


def promptfoo_json(directory: Path) -> Path:
    results = {"version": 3, "results": PROMPTFOO_ROWS}
    document = {"evalId": "eval-1", "results": results, "metadata": {"promptfooVersion": "0.121.0"}}
    return write_json(directory / "results.json", document)


def promptfoo_lines(directory: Path) -> Path:
    return write_lines(directory / "results.jsonl", PROMPTFOO_ROWS)


def promptfoo_table(directory: Path) -> Path:
    told = ["Status", "Score", "Named Scores", "Metric: agrees", "Grader Reason", "Comment"]
    header = ["Description", "question", "reference", "[model-0] Say", *told, "[model-1] Say", *told]
    first = ["count", "How many?", "7", "It is 7.", "PASS", "1.00", "{}", "1.00", "fits", ""]
    failed = ["API error: 500", "ERROR", "0.00", "{}", "", "API error: 500", ""]
    unread = ["It is 8.", "FAIL", "0.00", "{}", "0.00", "Could not extract JSON from llm-rubric response", ""]
    return write_table(directory / "results.csv", header, [[*first, *failed], [*first, *unread]])


def deepeval(directory: Path) -> Path:
    metrics = [
        {"name": "Right [GEval]", "score": 0.9, "threshold": 0.5, "success": True, "reason": "same"},
        {"name": "Exact Match", "success": False, "error": "the judge was down"},
    ]
    case = {
        "name": "count",
        "input": "How many?",
        "actualOutput": "It is 7.",
        "expectedOutput": "7",
        "metricsData": metrics,
    }
    run = {"testCases": [case], "conversationalTestCases": [{"name": "chat"}], "metricsScores": []}
    return write_json(directory / "run.json", {"testRunData": {**run, "hyperparameters": {"model": "model-x"}}})


# Batches.


def openai_chat(directory: Path) -> Path:
    def output(name: str, content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
        choice = {"message": {"content": content, **message}, "finish_reason": finish}
        body = {"model": "gpt-x-1", "choices": [choice]}
        return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}

    names = ("r1", "r2", "r3", "r4")
    body = {
        "model": "gpt-x",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}],
    }
    write_lines(
        directory / "batch_input.jsonl",
        [{"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body} for name in names],
    )
    failed = {"custom_id": "r4", "response": None, "error": {"code": "batch_expired", "message": "too late"}}
    write_lines(directory / "batch_error.jsonl", [failed])
    outputs = [output("r1", "7"), output("r2", None, refusal="I will not."), output("r3", "", "content_filter")]
    return write_lines(directory / "batch_output.jsonl", outputs)


def openai_responses(directory: Path) -> Path:
    def output(name: str, items: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        body = {"model": "gpt-y", "status": "completed", "output": items, **changes}
        return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}

    said = {"type": "message", "content": [{"type": "output_text", "text": "7"}]}
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    rows = [output("r1", [{"type": "reasoning"}, said]), output("r2", [{"type": "reasoning"}], **cut)]
    return write_lines(directory / "output.jsonl", rows)


def anthropic(directory: Path) -> Path:
    request = {"model": "claude-x", "messages": [{"role": "user", "content": "How many?"}]}
    requests = [{"custom_id": name, "params": request} for name in ("r1", "r2", "r3")]
    write_json(directory / "one_requests.json", {"requests": requests})
    thought = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "7"}]
    message = {"model": "claude-x-1", "content": thought, "stop_reason": "end_turn"}
    error = {"type": "error", "error": {"type": "api_error", "message": "down"}}
    rows = [
        {"custom_id": "r1", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "r2", "result": {"type": "errored", "error": error}},
        {
            "custom_id": "r3",
            "result": {"type": "succeeded", "message": {**message, "content": [], "stop_reason": "refusal"}},
        },
    ]
    return write_lines(directory / "one_results.jsonl", rows)


def gemini(directory: Path) -> Path:
    asked = {"contents": [{"role": "user", "parts": [{"text": "How many?"}]}]}
    write_lines(directory / "g_input.jsonl", [{"key": name, "request": asked} for name in ("r1", "r2")])
    candidate = {"content": {"parts": [{"text": "hm", "thought": True}, {"text": "7"}]}, "finishReason": "STOP"}
    rows = [
        {"key": "r1", "response": {"candidates": [candidate], "modelVersion": "gemini-x"}},
        {"key": "r2", "response": {"promptFeedback": {"blockReason": "SAFETY"}}},
    ]
    return write_lines(directory / "g_output.jsonl", rows)


# Arenas.


def mt_bench(directory: Path) -> Path:
    prompt = (
        "[Instruction]\nRate it.\n\n[Question]\nHow many?\n\n[The Start of Assistant's Answer]\nIt is 7.\n"
        "[The End of Assistant's Answer]"
    )
    talk = (
        "<|The Start of Assistant A's Conversation with User|>\n\n### User:\nHow many?\n\n"
        "### Assistant A:\nIt is 7.\n\n"
        "### User:\nSure?\n\n### Assistant A:\nYes.\n\n<|The End of Assistant A's Conversation with User|>"
    )
    row = {"question_id": 81, "model": "model-x", "judge": ["gpt-4", "single-v1"], "judgment": "[[10]]", "turn": 1}
    first = {**row, "user_prompt": prompt, "score": 10}
    return write_lines(directory / "single.jsonl", [first, {**row, "user_prompt": talk, "score": -1, "turn": 2}])


def mt_bench_pair(directory: Path) -> Path:
    def answer(name: str, text: str) -> str:
        return f"[The Start of Assistant {name}'s Answer]\n{text}\n[The End of Assistant {name}'s Answer]"

    prompt = f"[User Question]\nHow many?\n\n{answer('A', 'It is 8.')}\n\n{answer('B', 'It is 7.')}"
    row = {"question_id": 81, "model_1": "m1", "model_2": "m2", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    winners = [("model_2", "model_2"), ("model_1", "tie"), ("error", "model_1")]
    return write_lines(
        directory / "pair.jsonl",
        [
            {**row, "question_id": number, "g1_winner": one, "g2_winner": two, "g1_user_prompt": prompt}
            for number, (one, two) in enumerate(winners)
        ],
    )


def alpaca_eval(directory: Path) -> Path:
    row = {"instruction": "How many?", "output_1": "8", "generator_1": "m1", "output_2": "7", "generator_2": "m2"}
    rows = [
        {**row, "instruction": f"How many {value}?", "annotator": "judge", "preference": value}
        for value in (2, 1.0, 1.5, 0, None)
    ]
    return write_json(directory / "annotations.json", rows)


# Experiments and tables.


def mlflow(directory: Path) -> Path:
    header = ["trace_id", "contains/value", "right/value", "right/error_message", "expected_response/value", "state"]
    request = ["{'question': 'How many?'}", "{'response': \"It's 7.\"}"]
    rows = [
        ["tr-1", "True", "yes", "", "7", "OK", *request],
        ["tr-2", "False", "", "the judge was down", "7", "OK", *request],
        ["tr-3", "", "", "", "7", "ERROR", request[0], ""],
    ]
    return write_table(directory / "results.csv", [*header, "request", "response"], rows)


def langsmith(directory: Path) -> Path:
    header = ["inputs.question", "outputs.response", "error", "reference.answer", "feedback.exact", "example_id", "id"]
    rows = [
        ["How many?", "7", "", "7", "1.0", "e1", "run-1"],
        ["How many?", "", "RuntimeError('boom')\n\nTraceback", "7", "", "e1", "run-2"],
    ]
    return write_table(directory / "experiment.csv", header, rows)


def braintrust(directory: Path) -> Path:
    row: dict[str, Any] = {"input": "How many?", "expected": "7", "metadata": {}, "error": None}
    rows = [
        {**row, "output": "7", "scores": {"exact": 1.0, "skipped": None}},
        {**row, "output": None, "scores": {}, "error": "RuntimeError('boom')"},
    ]
    return write_lines(directory / "results.jsonl", rows)


def chat(directory: Path) -> Path:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]
    answered = [*turns, {"role": "assistant", "content": [{"type": "text", "text": "7"}]}]
    rows: list[dict[str, Any]] = [
        {"id": "c1", "messages": answered, "target": "7"},
        {"id": "c2", "messages": turns, "target": "7"},
    ]
    return write_lines(directory / "chats.jsonl", rows)


def inputs_outputs(directory: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"inputs": {"question": "How many?"}, "outputs": {"answer": "7"}, "expectations": {"expected_response": "7"}},
        {"inputs": "How many?", "outputs": None, "expectations": {"expected_response": "7"}, "error": "boom"},
    ]
    return write_lines(directory / "table.jsonl", rows)


WRITERS: tuple[Callable[[Path], Path], ...] = (
    *(inspect_json, inspect_deflated, inspect_zstandard, lm_eval, lm_eval_choices, helm, evalscope),
    *(promptfoo_json, promptfoo_lines, promptfoo_table, deepeval, openai_chat, openai_responses, anthropic, gemini),
    *(mt_bench, mt_bench_pair, alpaca_eval, mlflow, langsmith, braintrust, chat, inputs_outputs),
)
