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
    whole = path.suffix == ".json"
    rows = json.loads(path.read_text(encoding="utf-8"))["results"]["results"] if whole else lines(path)
    for row in rows:
        output = (row.get("response") or {}).get("output")
        grading = row.get("gradingResult") or {}
        yield {output} if isinstance(output, str) else set(), {"promptfoo": grading.get("score")} if grading else {}


def raw_deepeval(path: Path) -> Iterator[RawSample]:
    document = json.loads(path.read_text(encoding="utf-8"))
    document = document.get("testRunData", document)
    for case in document.get("testCases", document.get("test_results", [])):
        metrics = case.get("metricsData", case.get("metrics_data")) or []
        text = case.get("actualOutput", case.get("actual_output"))
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
    """A table of results, or runs, of which the roots count."""
    if path.suffix == ".csv":
        for row in table(path):
            texts = {value for name, value in row.items() if name.startswith("outputs.")}
            yield texts, {name.removeprefix("feedback."): row[name] for name in row if name.startswith("feedback.")}
        return
    for run in lines(path):
        if run["parent_run_id"] is None:
            messages = (run["outputs"] or {}).get("messages") or [{}]
            last = messages[-1]
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
}


def differences(path: Path, kind: str, rows: list[dict[str, Any]]) -> list[str]:
    """Where imported rows are not what the raw file says; none for a format that has no reader here."""
    if kind not in READERS or (kind == "promptfoo" and path.suffix == ".csv"):
        return []
    raw = list(READERS[kind](path))
    if len(raw) != len(rows):
        return [f"{path.name}: {len(rows)} samples of {len(raw)}"]
    found = []
    for row, (texts, scores) in zip(rows, raw, strict=True):
        response = row["response"]
        if response is not None and not (response in texts or (kind == "fastchat" and response in next(iter(texts)))):
            found.append(
                f"{path.name}: {row['id']}: response {response[:60]!r} is none of {[text[:60] for text in texts]}"
            )
        for name, score in row.get("scores", {}).items():
            if name in scores and not same_value(score.get("value"), scores[name]) and "problem" not in score:
                found.append(f"{path.name}: {row['id']}: {name} is {score.get('value')!r}, raw {scores[name]!r}")
    return found


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
