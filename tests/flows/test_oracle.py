"""Values of independent libraries, reproduced by commands; skipped where the data is not beside the project."""

import json

import pytest
from bench.oracle import DATA, ORACLE, Case, all_cases, check

CASES = all_cases(json.loads((DATA / ORACLE).read_text())) if (DATA / ORACLE).is_file() else []
# One of each kind; `python -m bench.oracle` has them all.
SAMPLE = (
    "binary nq301",
    "agreement llmrubric_Q0",
    "agreement pandalm_3_humans",
    "agreement shaberi_jamt",
    "corrected triviaqa_GPT-4",
    "corrected llmrubric_Q1_expected",
    "clustered triviaqa_GPT-4",
    "paired triviaqa gpt-4t llama2-13b-base",
    "paired triviaqa_ppi|gpt-4t|llama2-70b-chat",
    "position judgebench",
    "position amel",
    "board vicuna_gpt4_reviews",
    "board shaberi_tengu_llama33",
    "jury autoj_two_orders",
    "length llmbar_pairwise",
    "length shaberi_tengu",
)

pytestmark = pytest.mark.skipif(not CASES, reason="the data is not beside the project")


@pytest.mark.parametrize("case", [case for case in CASES if case.name in SAMPLE], ids=lambda case: case.name)
def test_a_command_says_what_independent_libraries_say(case: Case) -> None:
    """Every value of the case, to the tolerance that goes with it."""
    checked = check(case, DATA)

    assert len(checked) > 5
    assert [one.expected.name for one in checked if not one.holds] == []


def test_the_sample_has_one_of_each_kind() -> None:
    assert {case.name for case in CASES} >= set(SAMPLE)
