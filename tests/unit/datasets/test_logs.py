"""Logs of other tools as rows of ours: every shape, from files that were written here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage import log_files

from mixseek.datasets.importers.registry import recognise

# id, response, ground truth, and by scorer: verdict, or the word for what is none.
Seen = tuple[str, str | None, str | None, dict[str, bool | str]]
# What each writer's log has to give: the format's name, then every sample.
EXPECTED: dict[Callable[[Path], Path], tuple[str, list[Seen]]] = {
    **dict.fromkeys(
        (log_files.inspect_json, log_files.inspect_deflated, log_files.inspect_zstandard),
        (
            "inspect",
            [
                ("a", "So the answer is 7.", "7", {"match": True}),
                ("a#2", None, "7", {}),
                ("b", "So the answer is 7.", "7", {"match": "unreadable"}),
                ("b#2", "So the answer is 7.", "7", {"match": "graded"}),
            ],
        ),
    ),
    log_files.lm_eval: (
        "lm_eval",
        [
            ("q0", "It is 7.", "7", {"exact_match,strict": False, "exact_match,none": True}),
            ("q0#2", "It is 8.", "7", {}),
            ("q1", "It is 7.", "7", {"exact_match,strict": False, "exact_match,none": True}),
            ("q1#2", "It is 8.", "7", {}),
        ],
    ),
    log_files.lm_eval_choices: ("lm_eval", [("q0", "blue", "blue", {"exact_match,none": True})]),
    log_files.helm: ("helm", [("h1", "B", "B", {"exact_match": True}), ("h2", None, "B", {})]),
    log_files.evalscope: (
        "evalscope",
        [("0", "B", "B", {"acc": "unreadable"}), ("0#2", "B", "B", {"acc": True}), ("1", "B", "B", {"acc": True})],
    ),
    **dict.fromkeys(
        (log_files.promptfoo_json, log_files.promptfoo_lines),
        (
            "promptfoo",
            [
                ("count@0", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
                ("count@1", None, "7", {}),
                ("count@0#2", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
                ("count@1#2", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
            ],
        ),
    ),
    log_files.promptfoo_table: (
        "promptfoo",
        [
            ("count@0", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
            ("count@1", None, "7", {}),
            ("count@0#2", "It is 7.", "7", {"agrees": True, "promptfoo": True}),
            ("count@1#2", "It is 8.", "7", {"agrees": "unreadable", "promptfoo": "unreadable"}),
        ],
    ),
    log_files.deepeval: (
        "deepeval",
        [("count", "It is 7.", "7", {"Right [GEval]": True, "Exact Match": "unreadable"})],
    ),
    log_files.openai_chat: (
        "openai_batch",
        [("r1", "7", None, {}), ("r2", "I will not.", None, {}), ("r3", None, None, {})],
    ),
    log_files.openai_responses: ("openai_batch", [("r1", "7", None, {}), ("r2", None, None, {})]),
    log_files.anthropic: ("anthropic_batch", [("r1", "7", None, {}), ("r2", None, None, {}), ("r3", None, None, {})]),
    log_files.gemini: ("gemini_batch", [("r1", "7", None, {}), ("r2", None, None, {})]),
    log_files.mt_bench: (
        "fastchat",
        [
            ("81@model-x", "It is 7.", None, {"gpt-4": "graded"}),
            ("81.turn2@model-x", "Yes.", None, {"gpt-4": "unreadable"}),
        ],
    ),
    log_files.mt_bench_pair: (
        "fastchat",
        [
            ("0@m2 vs m1", "It is 7.", None, {"gpt-4": True}),
            ("1@m2 vs m1", "It is 7.", None, {"gpt-4": "graded"}),
            ("2@m2 vs m1", "It is 7.", None, {"gpt-4": "unreadable"}),
        ],
    ),
    log_files.mlflow: (
        "mlflow",
        [
            ("tr-1", "It's 7.", "7", {"contains": True, "right": True}),
            ("tr-2", "It's 7.", "7", {"contains": False, "right": "unreadable"}),
            ("tr-3", None, "7", {}),
        ],
    ),
    log_files.langsmith: ("langsmith", [("e1", "7", "7", {"exact": True}), ("e1#2", None, "7", {})]),
    log_files.chat: ("chat", [("c1", "7", "7", {}), ("c2", None, "7", {})]),
    log_files.inputs_outputs: ("inputs_outputs", [("1", "7", "7", {}), ("2", None, "7", {})]),
}


def rows_of(path: Path) -> list[dict[str, Any]]:
    log = recognise(path)
    assert log is not None
    return list(log.rows([]))


def seen(row: dict[str, Any]) -> Seen:
    def said(score: dict[str, Any]) -> bool | str:
        verdict = score.get("is_correct")
        return "unreadable" if "problem" in score else "graded" if verdict is None else bool(verdict)

    scores = {name: said(score) for name, score in row.get("scores", {}).items()}
    return row["id"], row["response"], row.get("ground_truth"), scores


@pytest.mark.parametrize("write", EXPECTED, ids=lambda write: write.__name__)
def test_a_log_gives_its_samples_with_ids_responses_targets_and_scores(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = write(tmp_path)
    log = recognise(path)
    name, samples = EXPECTED[write]

    assert log is not None
    assert log.format.name == name
    assert [seen(row) for row in log.rows([])] == samples


@pytest.mark.parametrize("write", log_files.WRITERS, ids=lambda write: write.__name__)
def test_a_log_is_recognised_by_its_content_whatever_it_is_called(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    """CSV alone needs its suffix: any text is a table of one column."""
    path = write(tmp_path)
    named, log = path.with_name("data.csv" if path.suffix == ".csv" else "data.log"), recognise(path)
    path.rename(named)
    other = recognise(named)

    assert log is not None
    assert other is not None
    assert other.format.name == log.format.name


@pytest.mark.parametrize("write", log_files.WRITERS, ids=lambda write: write.__name__)
def test_a_sample_without_a_response_says_why_and_no_other_does(write: Callable[[Path], Path], tmp_path: Path) -> None:
    rows = rows_of(write(tmp_path))

    assert rows
    assert all((row["response"] is None) == ("response_error" in row) for row in rows)


def test_questions_of_a_batch_are_joined_from_its_requests(tmp_path: Path) -> None:
    """A system prompt is an instruction, not a turn of the conversation."""
    rows = rows_of(log_files.openai_chat(tmp_path))

    assert {row["question"] for row in rows} == {"How many?"}
    assert {row["target_model"] for row in rows} == {"gpt-x-1"}


def test_the_requests_of_a_batch_give_outputs_and_failures_together(tmp_path: Path) -> None:
    log_files.openai_chat(tmp_path)
    rows = rows_of(tmp_path / "batch_input.jsonl")

    assert [(row["id"], row["response"]) for row in rows] == [
        ("r1", "7"),
        ("r2", "I will not."),
        ("r3", None),
        ("r4", None),
    ]
    assert rows[-1]["response_error"] == "batch_expired: too late"


def test_options_stand_below_the_question(tmp_path: Path) -> None:
    first = rows_of(log_files.helm(tmp_path))[0]

    assert first["question"] == "Which?\nOptions:\n(A) red\n(B) blue"


def test_a_preference_is_the_share_by_which_the_second_output_won(tmp_path: Path) -> None:
    """1 first, 2 second, 1.5 and the 0 of older files a tie, null failed."""
    rows = rows_of(log_files.alpaca_eval(tmp_path))
    told = [row["scores"]["judge"] for row in rows]

    assert [one.get("score") for one in told] == [1.0, 0.0, 0.5, 0.5, None]
    assert ["problem" in one for one in told] == [False, False, False, False, True]


def test_a_scorer_that_skipped_is_no_score(tmp_path: Path) -> None:
    rows = rows_of(log_files.braintrust(tmp_path))

    assert [list(row.get("scores", {})) for row in rows] == [["exact"], []]
    assert [row["repeat"] for row in rows] == [1, 2]
    assert len({row["question_id"] for row in rows}) == 1


def test_several_repeats_with_one_score_are_told(tmp_path: Path) -> None:
    log = recognise(log_files.lm_eval(tmp_path))
    notices: list[str] = []
    assert log is not None
    list(log.rows(notices))

    assert log.log.tool_version == "0.4.99"
    assert len(notices) == 1
    assert "2 documents have several responses and one score" in notices[0]


def test_attachments_are_put_back_where_inspect_took_them_out(tmp_path: Path) -> None:
    long = log_files.inspect_sample("a", input="attachment://0abc", attachments={"0abc": "How many in all?"})
    path = log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [long]})

    assert rows_of(path)[0]["question"] == "How many in all?"


def test_one_description_on_two_tests_names_two_questions(tmp_path: Path) -> None:
    other = log_files.promptfoo_row(1, 0, vars={"question": "How often?", "reference": "7"})
    rows = rows_of(log_files.write_lines(tmp_path / "r.jsonl", [log_files.promptfoo_row(0, 0), other]))

    assert rows[0]["question_id"] == "count"
    assert rows[1]["question_id"].startswith("count~")
    assert [row["repeat"] for row in rows] == [1, 1]


PLAIN = (
    {"id": "1", "question": "How many?", "response": "7", "ground_truth": "7"},
    {"id": "1", "input": "How many?", "output": "7", "target": "7"},
    {"id": "1", "messages": [{"role": "user", "content": "How many?"}], "response": "7", "ground_truth": "7"},
    {"id": "1", "response": "7", "ground_truth": "7", "scores": {"own": 1}, "error": None},
)


@pytest.mark.parametrize("row", PLAIN, ids="-".join)
@pytest.mark.parametrize("count", [1, 2])
def test_a_plain_dataset_is_no_log(row: dict[str, Any], count: int, tmp_path: Path) -> None:
    rows = [{**row, "id": str(number)} for number in range(count)]

    assert recognise(log_files.write_lines(tmp_path / "plain.jsonl", rows)) is None
    assert recognise(log_files.write_json(tmp_path / "plain.json", rows)) is None


# Older versions of the same tools, and what a tool lost.


def test_lm_eval_before_it_named_its_metrics_and_arguments_is_read_alike(tmp_path: Path) -> None:
    row = log_files.lm_eval_row(0, "none", 1.0, arguments=[["Q0?", {"until": []}]], resps=[["It is 7."]])
    del row["metrics"], row["filter"]
    (read,) = rows_of(log_files.write_lines(tmp_path / "samples.jsonl", [row]))

    assert (read["question"], read["response"]) == ("Q0?", "It is 7.")
    assert seen(read)[3] == {"exact_match,none": True}


def test_the_one_score_of_an_old_inspect_log_is_kept(tmp_path: Path) -> None:
    sample = log_files.inspect_sample("a", score={"value": "C"})
    del sample["scores"]
    (read,) = rows_of(
        log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "version": 1, "samples": [sample]})
    )

    assert seen(read)[3] == {"score": True}


def test_an_unreadable_grade_that_old_inspect_called_incorrect_is_unreadable(tmp_path: Path) -> None:
    graded = {"model_graded_qa": {"value": "I", "explanation": "Grade not found in model output: fine"}}
    sample = log_files.inspect_sample("a", scores=graded)
    path = log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [sample]})

    assert seen(rows_of(path)[0])[3] == {"model_graded_qa": "unreadable"}


def test_rows_that_evalscope_lost_are_counted_by_the_gaps(tmp_path: Path) -> None:
    path = log_files.evalscope(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[2]]))
    log, notices = recognise(path), list[str]()
    assert log is not None
    list(log.rows(notices))

    assert notices == ["1 of 3 indexes have no row: EvalScope keeps nothing of a request that failed"]


def test_outputs_of_several_models_to_one_instruction_are_no_repeats(tmp_path: Path) -> None:
    row = {"instruction": "How many?", "output_1": "8", "generator_1": "m1", "output_2": "7", "preference": 2}
    rows = rows_of(log_files.write_json(tmp_path / "a.json", [{**row, "generator_2": name} for name in ("x", "y")]))

    assert [row["repeat"] for row in rows] == [1, 1]
    assert [row["id"].partition("@")[2] for row in rows] == ["x", "y"]


def test_the_answers_that_mt_bench_is_to_judge_are_samples_by_turn(tmp_path: Path) -> None:
    row = {"question_id": 81, "answer_id": "x", "model_id": "m", "choices": [{"index": 0, "turns": ["7", "Yes."]}]}
    rows = rows_of(log_files.write_lines(tmp_path / "m.jsonl", [row]))

    assert [(row["id"], row["response"], row["target_model"]) for row in rows] == [
        ("81", "7", "m"),
        ("81.turn2", "Yes.", "m"),
    ]
