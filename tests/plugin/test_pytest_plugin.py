"""The pytest plugin, in sessions of its own: what passes, what fails with which words, and what is asked how often."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp  # noqa: F401 - as below: loaded before a session loads it
import pytest
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import environment

import mixseek
from mixseek.testing.mock_server import MockOptions

pytest_plugins = ["pytester"]

ANSWERS = [
    {
        "id": f"riddle-{n}",
        "question": f"Who walks on {n} legs?",
        "response": f"Traveller {n}.",
        "ground_truth": f"t {n}",
    }
    for n in range(6)
]


@pytest.fixture(scope="module", autouse=True)
def _everything_is_loaded() -> None:
    """pytester forgets what a session has imported, and extension modules do not bear to be loaded twice."""
    mixseek.judge([{"response": "4", "ground_truth": "4"}], judges="rules").report()


@pytest.fixture(autouse=True)
def _plugins_by_name(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """To find every plugin of the machine is a third of a session; the page on pytest shows that ours is found."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "mixseek.pytest_plugin")


@pytest.fixture
def endpoint() -> Iterator[Loopback]:
    with loopback(MockOptions(latency_seconds=0.0, correct_share=1.0)) as one:
        yield one


def test_loading_the_plugin_loads_nothing_else() -> None:
    """Every session of pytest on the machine pays for it."""
    code = "import sys, mixseek.pytest_plugin; print([m for m in sys.modules if m.startswith(('mixseek', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "['mixseek', 'mixseek.pytest_plugin']"


def test_a_right_answer_passes_and_a_wrong_one_fails_with_the_reason_and_the_span(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_right(judged):
            answer = judged("So the answer is (B).", ground_truth="(B)", question="Which? (A) red (B) blue")
            assert (answer.verdict, answer.score) == ("correct", 1.0)

        def test_wrong(judged):
            judged("It was (B) at first. The answer is (A).", ground_truth="(B)", question="Which? (A) red (B) blue")
        """
    )
    done = pytester.runpytest_inprocess()

    done.assert_outcomes(passed=1, failed=1)
    printed = done.stdout.str()
    assert "incorrect: score 0, and at least 1 is wanted" in printed
    assert "The answer is ⟦(A)⟧." in printed or "The answer is (⟦A⟧)." in printed
    assert "Decided by rules: option" in printed
    assert "mixseek show data-semantic-" in printed
    # Neither a traceback into us nor colour where nobody sees it.
    assert "pytest_plugin.py" not in printed
    assert "\x1b[" not in printed


def test_colour_is_for_terminals(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_wrong(judged): judged('It is 5.', ground_truth='4')")
    done = pytester.runpytest_inprocess("--color=yes")

    assert "\x1b[" in done.stdout.str().partition("incorrect: score")[2].partition("mixseek show")[0]


STATES = """
import pytest

CASES = {
    "undecided": dict(judges="rules", response="She owes 106.12.", ground_truth="106"),
    "invalid": dict(judges="replay", response="It is 4.", ground_truth="4", reply="looks fine to me"),
    "missing": dict(judges="replay:none.jsonl", response="It is 4.", ground_truth="4"),
}

@pytest.mark.parametrize("state", CASES)
def test_state(judged, state):
    judged(**CASES[state])
"""


def test_what_has_no_verdict_fails_in_its_own_words_or_is_skipped(pytester: pytest.Pytester) -> None:
    """Undecided, invalid and missing are no verdicts on the answer."""
    pytester.makepyfile(STATES)
    pytester.path.joinpath("none.jsonl").write_text('{"id": "another", "reply": "{}"}\n', encoding="utf-8")
    done = pytester.runpytest_inprocess()

    done.assert_outcomes(failed=3)
    printed = done.stdout.str()
    assert "undecided: the judges decline to decide" in printed
    assert "invalid: the judge's reply cannot be used" in printed
    assert "UNPARSABLE_OUTPUT" in printed
    assert "missing: no reply could be had" in printed

    again = pytester.runpytest_inprocess("-o", "mixseek_unjudged=skip")
    again.assert_outcomes(skipped=3)


def test_an_unchanged_answer_is_asked_about_once_over_two_sessions(
    pytester: pytest.Pytester, endpoint: Loopback
) -> None:
    """And a changed one once more."""
    test = "def test_it(judged): judged('Traveller 7.', ground_truth='the seventh', question='Who walks?')"
    pytester.makepyfile(test)
    pytester.makeini(f"[pytest]\nmixseek_judges = openai:mock@{endpoint.base_url}\n")

    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    assert endpoint.requests == 1
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    assert endpoint.requests == 1

    pytester.makepyfile(test.replace("7", "8"))
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    assert endpoint.requests == 2


def test_a_dataset_is_one_test_a_row_and_one_run_for_all_workers(pytester: pytest.Pytester, endpoint: Loopback) -> None:
    """Two workers of pytest-xdist share a workspace: nothing is asked twice, and every row has a test of its own."""
    pytester.path.joinpath("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ANSWERS))
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.judged("answers.jsonl", judges="openai:mock@{endpoint.base_url}", workspace="ws")
        def test_rows(judged_row):
            judged_row()
        """
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "-v", "-p", "xdist"],
        cwd=pytester.path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert f"{len(ANSWERS)} passed" in done.stdout, done.stdout
    assert "test_rows[riddle-3]" in done.stdout
    assert endpoint.requests == len(ANSWERS)
    assert len(list(Path(pytester.path, "ws", "runs").iterdir())) == 1


def test_several_answers_are_judged_at_once_and_checked_one_by_one(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_many(judged):
            rows = [{"id": str(n), "response": f"The answer is {n}.", "ground_truth": "2"} for n in range(3)]
            answers = judged.rows(rows, judges="rules")
            assert [answer.score for answer in answers] == [0.0, 0.0, 1.0]
            answers[2]()
            answers[1](at_least=0)
            answers[0]()
        """
    )
    done = pytester.runpytest_inprocess()

    done.assert_outcomes(failed=1)
    assert "The answer is ⟦0⟧." in done.stdout.str()


BAD_INPUT = {
    "judged('4', ground_truth='4', judges='rulez')": "cannot be judged: unknown judge 'rulez'; did you mean 'rules'?",
    "judged('4')": "ground_truth",
    "judged(None, ground_truth='4')": (
        "cannot be judged: data: no row has a response: `response` is null in each of 1 rows"
    ),
    "judged('4', ground_truth='4', judgs='x')": "cannot be judged: 'judgs': did you mean 'judges'?",
    "judged('4', ground_trth='4')": "cannot be judged: 'ground_trth': did you mean 'ground_truth'?",
}


def test_bad_input_is_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("\n".join(f"def test_{n}(judged): {call}" for n, call in enumerate(BAD_INPUT)))
    done = pytester.runpytest_inprocess("-rN")
    printed = re.split(r"^_+ test_\d _+$", done.stdout.str(), flags=re.MULTILINE)[1:]

    done.assert_outcomes(failed=len(BAD_INPUT))
    for line, said in zip(BAD_INPUT.values(), printed, strict=True):
        assert line in said
        assert "Traceback" not in said
        assert "another exception" not in said


@pytest.mark.parametrize("setting", ["mixseek_at_least=most", "mixseek_unjudged=ignore"])
def test_a_slip_in_the_settings_is_named(pytester: pytest.Pytester, setting: str) -> None:
    pytester.makepyfile("def test_it(judged): judged('She owes 106.12.', ground_truth='106')")
    done = pytester.runpytest_inprocess("-o", setting)

    done.assert_outcomes(failed=1)
    assert f"UsageError: {setting.partition('=')[0]}: " in done.stdout.str()


def test_a_dataset_that_is_not_there_ends_the_session_in_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.judged('none.jsonl')\ndef test_rows(judged_row): judged_row()")
    done = pytester.runpytest_inprocess()

    assert "none.jsonl: no such file" in done.stdout.str() + done.stderr.str()
    assert "pytest_plugin.py" not in done.stdout.str()
    assert done.ret != 0


def test_the_length_of_a_line_is_the_setting_that_commands_have(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows become tests before anything is judged, and are read by the same limit."""
    pytester.makefile(".jsonl", long=json.dumps({**ANSWERS[0], "response": "x" * 1_500_000}) + "\n")
    pytester.makepyfile("import pytest\n@pytest.mark.judged('long.jsonl')\ndef test_rows(judged_row): judged_row()")
    monkeypatch.setenv("MIXSEEK_JUDGE__MAX_LINE_MB", "1")
    done = pytester.runpytest_inprocess("--collect-only")

    assert "long.jsonl: line 1 is longer than 1 MB" in done.stdout.str()
    assert done.ret != 0
