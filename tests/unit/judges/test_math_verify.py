"""math-verify in a child process: what it says, what it costs, and how it ends."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import wait_for

from mixseek.domain.judgments import Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.judges import math_verify
from mixseek.judges.math_verify import MathVerify, find_maths
from mixseek.judges.specs import RulesJudge, make_judge
from mixseek.protocols.registry import load_protocol
from mixseek.runs.requests.manifest_entries import describe_judge

pytestmark = pytest.mark.skipif(find_maths() is None, reason="the extra `maths` is not installed")


@pytest.fixture(scope="module")
def maths() -> Iterator[MathVerify]:
    comparer = MathVerify("under test")
    yield comparer
    comparer.close()


def test_it_compares_what_we_do_not(maths: MathVerify) -> None:
    assert maths.are_equal(r"2\sqrt{2}", r"\sqrt{8}") is True
    assert maths.are_equal("x^2+2x+1", "(x+1)^2") is True
    assert maths.are_equal(r"2\sqrt{2}", r"\sqrt{9}") is False
    assert maths.are_equal("x+1", "x+2") is False


def test_it_has_no_opinion_where_writings_are_not_comparable(maths: MathVerify) -> None:
    """Not equal is not different: an inequality and another, a triple and a column, constants read as letters."""
    for gold, answer in (("x > 3", "2x > 6"), ("(1,2,3)", r"\begin{pmatrix}1\\2\\3\end{pmatrix}"), ("-1", "i^2")):
        assert maths.are_equal(gold, answer) is None
    assert maths.are_equal(r"\sqrt{2}", "1.41") is None
    assert maths.are_equal("", "") is None


def test_a_value_is_no_equation_unless_it_solves_it(maths: MathVerify) -> None:
    """An equation between several letters is not its right-hand side; y + 1 = 2x may be answered 2x - 1."""
    assert maths.are_equal("5 = 3a+b", "3a+b") is False
    assert maths.are_equal("4x + y = 3", "3") is False
    assert maths.are_equal("y + 1 = 2x", "2x - 1") is not False
    assert maths.are_equal("2x + 3 = 7", "2") is not False


def test_what_takes_too_long_is_killed_and_the_next_is_answered() -> None:
    comparer = MathVerify("under test", seconds=1.0)
    assert comparer.are_equal("1", "x") is False
    assert comparer.are_equal("2^{3^{4^{5^{6}}}}", "7^{7^{7^{7^{7}}}}") is None
    assert comparer.are_equal("x+1", "1+x") is True
    comparer.close()


def test_the_process_starts_with_the_first_expression_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    start = MathVerify._running_child

    def count(maths: MathVerify) -> "subprocess.Popen[bytes] | None":
        started.append(maths)
        return start(maths)

    monkeypatch.setattr(MathVerify, "_running_child", count)
    judge, protocol = make_judge("rules"), load_protocol("semantic")
    assert isinstance(
        judge.reply(Sample("1", "So the answer is 1/2.", ground_truth=r"\frac{1}{2}"), protocol), ValidJudgment
    )
    assert not started
    outcome = judge.reply(Sample("1", r"So the answer is $\sqrt{8}$.", ground_truth=r"$2\sqrt{2}$"), protocol)
    assert isinstance(outcome, ValidJudgment)
    assert outcome.verdict == "correct"
    assert len(started) == 1
    assert isinstance(judge, RulesJudge)
    assert isinstance(judge.maths, MathVerify)
    judge.maths.close()


def test_a_copy_in_another_process_makes_its_own_child(maths: MathVerify) -> None:
    copy = pickle.loads(pickle.dumps(maths))  # noqa: S301 - our own bytes
    assert copy.version == maths.version
    assert copy.are_equal("x+1", "1+x") is True
    copy.close()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_the_child_ends_with_its_parent_however_that_dies() -> None:
    program = (
        "import os\nfrom mixseek.judges.math_verify import MathVerify\n"
        "m = MathVerify('x')\nm.are_equal('x', 'x+0')\nprint(m._child.pid, flush=True)\nos.kill(os.getpid(), 9)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=180, check=False)
    child = int(told.stdout)
    wait_for(lambda: not _is_alive(child))


def test_a_process_that_still_holds_one_ends_without_a_word() -> None:
    """Whatever keeps it until the modules are gone: nobody is told of an exception that was ignored."""
    program = (
        "import threading\nfrom mixseek.judges.math_verify import MathVerify\n"
        "threading.kept = {'maths': MathVerify('x')}\nprint(threading.kept['maths'].are_equal('x+1', '1+x'))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=180, check=False)

    assert (told.stdout, told.stderr) == ("True\n", "")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in (Path("/proc") / str(process) / "status").read_text()


def test_the_version_is_part_of_what_a_run_is() -> None:
    assert describe_judge(RulesJudge(maths=MathVerify("0.9"))).parameters["math_verify"] == "0.9"
    assert describe_judge(RulesJudge()).parameters["math_verify"] is None


def test_without_the_extra_such_answers_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(math_verify, "find_spec", lambda name: None)
    outcome = make_judge("rules").reply(
        Sample("1", r"So the answer is $\sqrt{8}$.", ground_truth=r"$2\sqrt{2}$"), load_protocol("semantic")
    )
    assert isinstance(outcome, Undecided)
    assert outcome.rules[-1] == "needs_maths"
