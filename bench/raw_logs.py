"""What logs of other tools say, read from the raw file alone: nothing here knows how mixseek reads them.

Each reader gives the texts and the scores that stand in the file, in its order. Held against `mixseek import --to`:
a response of ours must be one of the raw texts of its sample, and each of our scores the raw value.
"""

import ast
import csv
import json
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb

# Of one sample: every text of a model that may be its response, and by scorer what the file says.
RawSample = tuple[set[str], dict[str, Any]]
# Of a batch, whose files are in different orders: the text by the id of the request.
RawBatch = dict[str, set[str]]


def lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as stream:
        yield from (json.loads(line) for line in stream if line.strip())


def table(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def inspect_samples(path: Path) -> Iterator[Any]:
    """A zip may be packed with Zstandard, which only DuckDB reads here."""
    if path.suffix == ".json":
        yield from json.loads(path.read_text(encoding="utf-8")).get("samples") or []
        return
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as place:
        for info in archive.infolist():
            if not info.filename.startswith("samples/"):
                continue
            if info.compress_type != 93:
                yield json.loads(archive.read(info))
                continue
            with path.open("rb") as raw:
                raw.seek(info.header_offset + 26)
                skipped = int.from_bytes(raw.read(2), "little") + int.from_bytes(raw.read(2), "little")
                raw.seek(skipped, 1)
                packed = Path(place) / "sample.json.zst"
                packed.write_bytes(raw.read(info.compress_size))
            query = "SELECT json FROM read_json_objects(?, compression = 'zstd', format = 'unstructured')"
            ((text,),) = duckdb.execute(query, [str(packed)]).fetchall()
            yield json.loads(text)


def raw_inspect(path: Path) -> Iterator[RawSample]:
    for sample in inspect_samples(path):
        known = sample.get("attachments") or {}
        choices = sample.get("output", {}).get("choices") or [{}]
        content = (choices[0].get("message") or {}).get("content") or ""
        said = [sample.get("output", {}).get("completion") or "", joined(content)]
        texts = {known.get(text.removeprefix("attachment://"), text) for text in said}
        yield texts, {name: score["value"] for name, score in (sample.get("scores") or {}).items()}


def raw_promptfoo(path: Path) -> Iterator[RawSample]:
    if path.suffix == ".csv":
        yield from raw_promptfoo_table(path)
        return
    whole = path.suffix == ".json"
    rows = json.loads(path.read_text(encoding="utf-8"))["results"]["results"] if whole else lines(path)
    for row in rows:
        output = (row.get("response") or {}).get("output")
        grading = row.get("gradingResult") or {}
        yield {output} if isinstance(output, str) else set(), {"promptfoo": grading.get("score")} if grading else {}


def raw_deepeval(path: Path) -> Iterator[RawSample]:
    document = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(document, list):
        document = {"testCases": document}
    document = document.get("testRunData", document)
    cases = document.get("testCases", document.get("test_results", []))
    for case in [*cases, *document.get("conversationalTestCases", [])]:
        metrics = case.get("metricsData", case.get("metrics_data")) or []
        text = case.get("actualOutput", case.get("actual_output"))
        if case.get("turns"):
            text = case["turns"][-1]["content"]
        yield {text} - {None}, {metric["name"]: metric.get("score") for metric in metrics}


def joined(content: Any) -> str:
    """A text, or the text parts of a message."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return "\n".join(part["text"] for part in parts if part.get("type") == "text")


def raw_evalscope(path: Path) -> Iterator[RawSample]:
    for row in lines(path):
        if "model_output" in row:
            yield {joined(row["model_output"]["choices"][0]["message"]["content"])}, {}
            continue
        score = row["sample_score"]["score"]
        yield {score["prediction"]}, score["value"] if score["status"] == "success" else {}


def raw_mlflow(path: Path) -> Iterator[RawSample]:
    for row in table(path) if path.suffix == ".csv" else json.loads(path.read_text(encoding="utf-8")):
        response = row["response"]
        if isinstance(response, str) and response.startswith("{"):
            response = ast.literal_eval(response)
        text = next(iter(response.values())) if isinstance(response, dict) else response
        scores = {name.removesuffix("/value"): value for name, value in row.items() if name.endswith("/value")}
        yield {text}, {name: value for name, value in scores.items() if not name.startswith("expected")}


def raw_langsmith(path: Path) -> Iterator[RawSample]:
    """A table of results, or runs, of which the roots count, and of each thread the last."""
    if path.suffix == ".csv":
        for row in table(path):
            texts = {value for name, value in row.items() if name.startswith("outputs.")}
            yield texts, {name.removeprefix("feedback."): row[name] for name in row if name.startswith("feedback.")}
        return
    roots: dict[str, Any] = {}
    for run in lines(path):
        if run["parent_run_id"] is None:
            roots[((run.get("extra") or {}).get("metadata") or {}).get("thread_id") or run["id"]] = run
    for run in roots.values():
        last = ((run["outputs"] or {}).get("messages") or [{}])[-1]
        yield ({last.get("content")} if last.get("type") == "ai" and not last.get("tool_calls") else set()), {}


def raw_braintrust(path: Path) -> Iterator[RawSample]:
    for row in lines(path):
        yield {row["output"]} if isinstance(row["output"], str) else set(), row.get("scores") or {}


def raw_chat(path: Path) -> Iterator[RawSample]:
    for row in lines(path):
        last = row["messages"][-1]
        content = last.get("content")
        parts = content if isinstance(content, list) else []
        calls = last.get("tool_calls") or any(part.get("type") == "tool_use" for part in parts)
        yield ({joined(content)} if last["role"] == "assistant" and not calls else set()), {}


def raw_fastchat(path: Path) -> Iterator[RawSample]:
    """The whole prompt: the response must stand in it to the letter, behind the last word of the user."""
    for row in lines(path):
        prompt = row.get("user_prompt") or row["g1_user_prompt"]
        yield {prompt}, {row["judge"][0]: row.get("score", [row.get("g1_winner"), row.get("g2_winner")])}


def raw_alpaca(path: Path) -> Iterator[RawSample]:
    for row in json.loads(path.read_text(encoding="utf-8")):
        yield {row["output_2"]}, {row.get("annotator", "annotator"): row["preference"]}


def raw_lm_eval(path: Path) -> Iterator[RawSample]:
    """A document has a line for each filter. Scores are of its first response; where choices were weighed, the
    response is the choice with the greatest likelihood."""
    documents: dict[Any, list[dict[str, Any]]] = {}
    for row in lines(path):
        documents.setdefault(row["doc_id"], []).append(row)
    for rows in documents.values():
        scores = {f"{metric},{row['filter']}": row[metric] for row in rows for metric in row["metrics"]}
        responses = rows[0]["resps"]
        if isinstance(responses[0][0], str):
            for number, text in enumerate(responses[0]):
                yield {text}, {} if number else scores
            continue
        likelihoods = [float(response[0][0]) for response in responses]
        best = rows[0]["arguments"][f"gen_args_{likelihoods.index(max(likelihoods))}"]["arg_1"]
        yield {best.strip()}, scores


# Of a HELM instance: what says nothing about whether its output is right.
HELM_BOOKKEEPING = (
    "num_",
    "training_",
    "inference_",
    "batch_size",
    "finish_reason_",
    "prompt_truncated",
    "max_prob",
    "logprob",
)


def raw_helm(path: Path) -> Iterator[RawSample]:
    """The statistics of an instance stand in the file beside it."""
    scores: dict[tuple[str, int], dict[str, Any]] = {}
    for entry in json.loads((path.parent / "per_instance_stats.json").read_text(encoding="utf-8")):
        means = {stat["name"]["name"]: stat.get("mean") for stat in entry["stats"]}
        scores[entry["instance_id"], entry["train_trial_index"]] = {
            name: mean for name, mean in means.items() if not name.startswith(HELM_BOOKKEEPING)
        }
    for state in json.loads(path.read_text(encoding="utf-8"))["request_states"]:
        key = (state["instance"]["id"], state["train_trial_index"])
        for completion in state["result"]["completions"]:
            yield {completion["text"]}, scores[key]


def batch_lines(path: Path, *ends: str) -> dict[str, Any]:
    """By id what became of each request: of a file of requests, what the other files of the same batch say."""
    stem, _, end = path.stem.rpartition("_")
    if end not in ("input", "requests"):
        return {row.get("custom_id", row.get("key")): row for row in lines(path)}
    requests = json.loads(path.read_text(encoding="utf-8"))["requests"] if path.suffix == ".json" else lines(path)
    said: dict[str, Any] = {request.get("custom_id", request.get("key")): {} for request in requests}
    for file in (path.with_name(f"{stem}_{name}.jsonl") for name in ends):
        said |= batch_lines(file) if file.exists() else {}
    return said


def raw_openai_batch(path: Path) -> RawBatch:
    """Chat completions or responses; a refusal is what the model says, what a filter stopped is not."""
    texts: RawBatch = {}
    for name, row in batch_lines(path, "output", "error").items():
        body = (row.get("response") or {}).get("body") or {}
        messages = [item["content"] for item in body.get("output", ()) if item["type"] == "message"]
        said = {"".join(part.get("text") or part.get("refusal") or "" for part in parts) for parts in messages}
        for choice in body.get("choices", ()):
            message = choice["message"]
            said = (
                {message["content"] or message.get("refusal") or ""}
                if choice["finish_reason"] != "content_filter"
                else set()
            )
        texts[name] = said
    return texts


def raw_anthropic_batch(path: Path) -> RawBatch:
    contents = {
        name: ((row.get("result") or {}).get("message") or {}).get("content")
        for name, row in batch_lines(path, "results").items()
    }
    return {name: {joined(content)} if content else set() for name, content in contents.items()}


def raw_gemini_batch(path: Path) -> RawBatch:
    texts: RawBatch = {}
    for name, row in batch_lines(path, "output").items():
        candidates = (row.get("response") or {}).get("candidates")
        parts = (candidates[0].get("content") or {}).get("parts") or [] if candidates else []
        texts[name] = {"".join(part.get("text", "") for part in parts)} if candidates else set()
    return texts


def raw_promptfoo_table(path: Path) -> Iterator[RawSample]:
    """A column for each prompt, named by its provider in brackets; behind it the columns of its grading."""
    with path.open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    starts = [number for number, name in enumerate(head) if name.startswith("[")]
    for cells in rows:
        for start, end in zip(starts, [*starts[1:], len(head)], strict=True):
            graded = dict(zip(head[start + 1 : end], cells[start + 1 : end], strict=True))
            scores = {name.removeprefix("Metric: "): graded[name] for name in graded if name.startswith("Metric: ")}
            # What promptfoo writes itself where a filter stopped the output; its JSON says so beside it.
            is_answered = cells[start] != "Content filtered by provider" and graded["Status"] != "ERROR"
            yield {cells[start]} if is_answered else set(), {"promptfoo": graded["Score"], **scores}


READERS: dict[str, Callable[[Path], Iterator[RawSample]]] = {
    "inspect": raw_inspect,
    "promptfoo": raw_promptfoo,
    "deepeval": raw_deepeval,
    "evalscope": raw_evalscope,
    "mlflow": raw_mlflow,
    "langsmith": raw_langsmith,
    "langsmith_runs": raw_langsmith,
    "braintrust": raw_braintrust,
    "chat": raw_chat,
    "fastchat": raw_fastchat,
    "alpacaeval": raw_alpaca,
    "lm_eval": raw_lm_eval,
    "helm": raw_helm,
}
BATCHES: dict[str, Callable[[Path], RawBatch]] = {
    "openai_batch": raw_openai_batch,
    "anthropic_batch": raw_anthropic_batch,
    "gemini_batch": raw_gemini_batch,
}


def differences(path: Path, kind: str, rows: list[dict[str, Any]]) -> list[str]:
    """Where imported rows are not what the raw file says; none for a format that has no reader here."""
    if kind in BATCHES:
        batch = BATCHES[kind](path)
        if sorted(batch) != sorted(row["id"] for row in rows):
            return [f"{path.name}: {len(rows)} samples, or others than the {len(batch)} requests"]
        raw: list[RawSample] = [(batch[row["id"]], {}) for row in rows]
    elif kind in READERS:
        raw = list(READERS[kind](path))
    else:
        return []
    if len(raw) != len(rows):
        return [f"{path.name}: {len(rows)} samples of {len(raw)}"]
    return [
        f"{path.name}: {row['id']}: {difference}"
        for row, (texts, scores) in zip(rows, raw, strict=True)
        for difference in (*response_differences(row, texts, kind), *score_differences(row.get("scores", {}), scores))
    ]


def response_differences(row: dict[str, Any], texts: set[str], kind: str) -> Iterator[str]:
    """Another text than the file has, or none without a reason where it has one."""
    response = row["response"]
    if response is None:
        if texts and "response_error" not in row:
            yield f"no response and no reason, raw {[text[:60] for text in texts]}"
    elif not (response in texts or (kind == "fastchat" and response in next(iter(texts)))):
        yield f"response {response[:60]!r} is none of {[text[:60] for text in texts]}"


def score_differences(ours: dict[str, Any], raw: dict[str, Any]) -> Iterator[str]:
    """Another value, or none where the file has one."""
    for name, score in ours.items():
        if name in raw and not same_value(score.get("value"), raw[name]) and "problem" not in score:
            yield f"{name} is {score.get('value')!r}, raw {raw[name]!r}"
    for name in raw.keys() - ours.keys():
        if raw[name] not in (None, ""):
            yield f"{name} is left out, raw {raw[name]!r}"


def same_value(ours: Any, raw: Any) -> bool:
    """As values, or as a table writes them."""
    return ours == raw or str(ours) == str(raw) or str(ours).lower() == str(raw).lower() or is_same_number(ours, raw)


def is_same_number(ours: Any, raw: Any) -> bool:
    try:
        return float(ours) == float(raw)
    except (TypeError, ValueError):
        return False


def import_rows(command: str, path: Path, target: Path) -> tuple[int, str, str, list[dict[str, Any]]]:
    """Exit code, what was said, the format's name, and the rows."""
    words = [command, "import", str(path), "--to", str(target), "--json", "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    kind = json.loads(done.stdout)["format"] if done.returncode == 0 else ""
    rows = list(lines(target)) if done.returncode == 0 else []
    return done.returncode, done.stderr, kind, rows
