"""EvalScope: the file of predictions beside the reviews says how an output ended."""

from pathlib import Path
from typing import Any

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import notices_of, rows_of

from mixseek.datasets.importers.registry import recognise


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


def test_rows_that_evalscope_lost_are_counted_by_the_gaps(tmp_path: Path) -> None:
    path = log_files.evalscope(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[2]]))
    log, notices = recognise(path), list[str]()
    assert log is not None
    list(log.rows(notices))

    assert notices == ["1 of 3 indexes have no row: EvalScope keeps nothing of a request that failed"]
