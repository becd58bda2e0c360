"""Real logs of other tools, when they stand beside the project: each is read with the numbers that its README has."""

import json
from pathlib import Path
from typing import Any

import pytest
from bench.raw_logs import differences
from tests.flows.running import mixseek_here

LOGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "logs"
# Samples, responses, targets, errors, withheld, repeats, and scores by scorer.
Expected = tuple[int, int, int, int, int, int, dict[str, int]]
HELM = "helm/runs/s1/small_questions:which=dev,kind={},model=local_test-model/scenario_state.json"
EXACT = ("exact_match", "quasi_exact_match", "prefix_exact_match")
JOINT = [f"{name}{end}" for name in (*EXACT, "quasi_prefix_exact_match") for end in ("", "@5")]
EXPECTED: dict[str, Expected] = {
    "alpacaeval/gpt4_annotations.json": (18, 18, 0, 0, 0, 1, {"alpaca_eval_gpt4": 18}),
    "alpacaeval/gpt4_turbo_fn_annotations.json": (16, 16, 0, 0, 0, 1, {"alpaca_eval_gpt4": 16}),
    "alpacaeval/weighted_annotations.json": (11, 11, 0, 0, 0, 1, {"weighted_alpaca_eval_gpt4_turbo": 11}),
    "anthropic_batch/answers_requests.json": (60, 45, 0, 11, 4, 1, {}),
    "anthropic_batch/answers_results.jsonl": (60, 45, 0, 11, 4, 1, {}),
    "anthropic_batch/judge_results.jsonl": (60, 49, 0, 11, 0, 1, {}),
    "braintrust/eval_results.jsonl": (120, 118, 120, 2, 0, 2, {"contains": 118, "exact": 118, "fussy": 106}),
    "deepeval/.latest_test_run.json": (15, 15, 15, 0, 0, 1, {"Correctness [GEval]": 15, "Exact Match": 15}),
    "deepeval/evaluation_result_all.json": (45, 45, 45, 0, 0, 1, {"Correctness [GEval]": 45}),
    "deepeval/evaluation_result_errors.json": (15, 15, 15, 0, 0, 1, {"Correctness [GEval]": 15, "Exact Match": 15}),
    "deepeval/test_run_20261116_061523.json": (45, 45, 45, 0, 0, 1, {"Correctness [GEval]": 45}),
    "deepeval/test_run_20261116_061531.json": (15, 15, 15, 0, 0, 1, {"Correctness [GEval]": 15, "Exact Match": 15}),
    "evalscope/mcq_rule/predictions/test-model/general_mcq_small.jsonl": (14, 14, 0, 0, 0, 2, {}),
    "evalscope/mcq_rule/reviews/test-model/general_mcq_small.jsonl": (14, 14, 14, 0, 0, 2, {"accuracy": 14}),
    "evalscope/qa_errors/predictions/test-model/general_qa_small_qa.jsonl": (8, 8, 0, 0, 0, 1, {}),
    "evalscope/qa_errors/reviews/test-model/general_qa_small_qa.jsonl": (8, 8, 8, 0, 0, 1, {"acc": 8}),
    "evalscope/qa_llm/predictions/test-model/general_qa_small_qa.jsonl": (45, 44, 0, 0, 1, 1, {}),
    "evalscope/qa_llm/reviews/test-model/general_qa_small_qa.jsonl": (45, 44, 45, 0, 1, 1, {"acc": 45}),
    "fastchat/gpt-4_pair.jsonl": (14, 14, 0, 0, 0, 1, {"gpt-4": 14}),
    "fastchat/gpt-4_single.jsonl": (23, 23, 0, 0, 0, 1, {"gpt-4": 23}),
    "gemini_batch/answers_input.jsonl": (40, 36, 0, 4, 0, 1, {}),
    "gemini_batch/answers_output.jsonl": (40, 36, 0, 4, 0, 1, {}),
    HELM.format("mcq"): (15, 15, 15, 0, 0, 1, dict.fromkeys(JOINT, 15)),
    HELM.format("qa"): (30, 30, 30, 0, 0, 1, dict.fromkeys(EXACT, 30)),
    "inspect/*_bbh-includes_*.eval": (54, 53, 54, 0, 1, 2, {"includes": 54}),
    "inspect/*_bbh-match_*.eval": (36, 36, 36, 0, 0, 2, {"match": 36}),
    "inspect/*_bbh-choice_*.eval": (15, 14, 15, 0, 1, 1, {"choice": 15}),
    "inspect/*_bbh-graded_*.eval": (48, 47, 48, 0, 1, 2, {"model_graded_qa": 48, "includes": 48}),
    "inspect/*_bbh-flaky_*.eval": (40, 30, 40, 7, 3, 2, {"includes": 33}),
    "inspect/json/*_bbh-includes_*.json": (12, 12, 12, 0, 0, 2, {"includes": 12}),
    "inspect/json/*_bbh-match_*.json": (12, 12, 12, 0, 0, 2, {"match": 12}),
    "inspect/json/*_bbh-choice_*.json": (8, 8, 8, 0, 0, 1, {"choice": 8}),
    "inspect/json/*_bbh-graded_*.json": (8, 8, 8, 0, 0, 2, {"model_graded_qa": 8, "includes": 8}),
    "inspect/json/*_bbh-flaky_*.json": (10, 7, 10, 1, 2, 2, {"includes": 9}),
    "inspect/killed/*.eval": (0, 0, 0, 0, 0, 0, {}),
    "inspect/killed2/*.eval": (52, 50, 52, 0, 2, 1, {"model_graded_qa": 52, "includes": 52}),
    "inspect/old-0.3.75/*_bbh-includes_*.eval": (54, 53, 54, 0, 1, 2, {"includes": 54}),
    "inspect/old-0.3.75/*_bbh-match_*.eval": (36, 36, 36, 0, 0, 2, {"match": 36}),
    "inspect/old-0.3.75/*_bbh-choice_*.eval": (15, 15, 15, 0, 0, 1, {"choice": 15}),
    "inspect/old-0.3.75/*_bbh-graded_*.eval": (48, 47, 48, 0, 1, 2, {"model_graded_qa": 48, "includes": 48}),
    "langsmith/experiment_results.csv": (120, 118, 120, 2, 0, 2, {"exact": 118, "contains": 118, "shape": 118}),
    "lm_eval/dummy-mc/samples_small_mc_dev_*.jsonl": (15, 15, 15, 0, 0, 1, {"acc,none": 15, "acc_norm,none": 15}),
    "lm_eval/test-model/samples_small_gen_dev_*.jsonl": (
        *(45, 45, 45, 0, 0, 1),
        {"exact_match,get-answer": 45, "exact_match,none": 45},
    ),
    # Two responses to each of 18 questions; the filters took the first of them.
    "lm_eval/test-model/samples_small_numbers_dev_*.jsonl": (
        *(36, 36, 36, 0, 0, 2),
        {"exact_match,strict-match": 18, "exact_match,flexible-extract": 18},
    ),
    "mlflow/eval_results_full.csv": (9, 9, 9, 0, 0, 1, {"contains": 9, "length": 9, "correctness": 9}),
    "mlflow/eval_results_full.json": (9, 9, 9, 0, 0, 1, {"contains": 9, "length": 9, "correctness": 9}),
    "mlflow/eval_results_slim.csv": (24, 24, 24, 0, 0, 1, {"contains": 24, "length": 24, "correctness": 24}),
    "openai_batch/answers_chat_error.jsonl": (12, 0, 0, 12, 0, 1, {}),
    "openai_batch/answers_chat_input.jsonl": (60, 47, 0, 12, 1, 1, {}),
    "openai_batch/answers_chat_output.jsonl": (48, 47, 0, 0, 1, 1, {}),
    "openai_batch/answers_responses_error.jsonl": (12, 0, 0, 12, 0, 1, {}),
    "openai_batch/answers_responses_input.jsonl": (60, 45, 0, 12, 3, 1, {}),
    "openai_batch/answers_responses_output.jsonl": (48, 45, 0, 0, 3, 1, {}),
    "openai_batch/judge_chat_output.jsonl": (48, 48, 0, 0, 0, 1, {}),
    "promptfoo/rubric.csv": (25, 24, 25, 0, 1, 1, {"agrees": 25, "promptfoo": 25}),
    "promptfoo/rubric.json": (25, 24, 25, 0, 1, 1, {"agrees": 25, "promptfoo": 25}),
    "promptfoo/rubric_icontains.jsonl": (29, 29, 29, 0, 0, 1, {"agrees": 29, "icontains": 29, "promptfoo": 29}),
    "promptfoo/two_models_aborted.json": (7, 4, 7, 1, 2, 2, {"agrees": 6, "icontains": 6, "promptfoo": 6}),
    "promptfoo/two_models_repeat2.json": (24, 18, 24, 2, 4, 2, {"agrees": 22, "icontains": 22, "promptfoo": 22}),
}
# They belong to a log and hold no responses: one line says what to give instead.
WITHOUT_RESPONSES = (
    "anthropic_batch/answers_batch.json",
    "braintrust/summary.json",
    "evalscope/qa_llm/reports/test-model/general_qa.json",
    HELM.format("qa").replace("scenario_state", "per_instance_stats"),
    HELM.format("qa").replace("scenario_state", "run_spec"),
    HELM.format("qa").replace("scenario_state", "stats"),
    "lm_eval/test-model/results_*.json",
    "openai_batch/answers_chat_batch.json",
)

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="no ../shared/data/logs beside the project")


def find(pattern: str) -> Path:
    (path,) = LOGS.glob(pattern.replace("[", "[[]"))
    return path


def numbers(document: dict[str, Any]) -> Expected:
    scores = {name: told["scores"] for name, told in document["scores"].items()}
    names = ("samples", "responses", "targets", "errors", "withheld", "repeats")
    samples, responses, targets, errors, withheld, repeats = (document[name] for name in names)
    return samples, responses, targets, errors, withheld, repeats, scores


@pytest.mark.parametrize("pattern", EXPECTED)
def test_a_real_log_is_read_with_its_numbers_and_written_as_a_dataset(pattern: str, tmp_path: Path) -> None:
    """Imported samples are counted again from the file, so that the summary cannot say what was not written."""
    path, target = find(pattern), tmp_path / "samples.jsonl"
    summary = mixseek_here("import", path, "--json", "--quiet", cwd=tmp_path)
    document = json.loads(summary.stdout)
    samples = document["samples"]
    written = mixseek_here("import", path, "--to", target, "--quiet", cwd=tmp_path)
    rows = [json.loads(line) for line in target.read_text().splitlines()] if samples else []

    assert numbers(document) == EXPECTED[pattern]
    assert (summary.returncode, written.returncode) == ((0, 0) if samples else (2, 2))
    assert (len(rows), len({row["id"] for row in rows})) == (samples, samples)
    assert sum(row["response"] is not None for row in rows) == document["responses"]
    assert sum("response_error" in row for row in rows) == document["errors"] + document["withheld"]
    # Texts and scores as the raw file has them, by readers that know nothing of our importers.
    assert differences(path, document["format"], rows) == []


@pytest.mark.parametrize("pattern", WITHOUT_RESPONSES)
def test_a_file_without_responses_is_one_line_that_says_what_to_give(pattern: str, tmp_path: Path) -> None:
    done = mixseek_here("import", find(pattern), cwd=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "no responses" in line


@pytest.mark.parametrize("cut", [0.25, 0.6, 0.95])
@pytest.mark.parametrize(
    "pattern",
    [
        "inspect/*_bbh-graded_*.eval",
        "inspect/json/*_bbh-graded_*.json",
        "lm_eval/test-model/samples_small_gen_dev_*.jsonl",
        "promptfoo/two_models_repeat2.json",
        "promptfoo/rubric.csv",
        "alpacaeval/gpt4_annotations.json",
        "openai_batch/answers_chat_output.jsonl",
        "langsmith/experiment_results.csv",
    ],
)
def test_a_log_that_is_cut_gives_what_it_holds_and_says_so(pattern: str, cut: float, tmp_path: Path) -> None:
    path = find(pattern)
    copy = tmp_path / path.name
    whole = path.read_bytes()
    copy.write_bytes(whole[: int(len(whole) * cut)])
    done = mixseek_here("import", copy, "--json", cwd=tmp_path)
    document = json.loads(done.stdout)

    assert done.returncode == 0
    assert 0 < document["samples"] <= EXPECTED[pattern][0]
    assert "cut short" in done.stderr
