"""What `import mixseek` offers: the names, their types, and what `judge` takes and refuses."""

import doctest
import inspect
import logging
import numbers
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from xml.etree import ElementTree

import duckdb
import pytest
from tests.cases import each
from tests.flows.running import mixseek_here, sums, write_jsonl

import mixseek
from mixseek.cli.asking.audit import audit as audit_command
from mixseek.cli.asking.judge import judge as judge_command
from mixseek.cli.parsing.options import parse_share
from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.ports import JudgeProtocol
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.settings.declared import declarations
from mixseek.settings.options import JudgeOptions

SURFACE = [
    "AnswerOptions",
    "Answers",
    "AuditOptions",
    "Card",
    "Certificate",
    "Competition",
    "Evaluation",
    "GateError",
    "InvalidJudgment",
    "JudgeOptions",
    "Judged",
    "Missing",
    "MixseekError",
    "RoundRecord",
    "Run",
    "RunState",
    "Sample",
    "Undecided",
    "ValidJudgment",
    "aanswer",
    "acompete",
    "aevaluate",
    "ajudge",
    "answer",
    "audit",
    "compare",
    "compete",
    "evaluate",
    "forecast",
    "function_judge",
    "judge",
    "leaderboard",
    "load_protocol",
    "open_run",
    "plan_cascade",
    "statistics",
    "vote_statistics",
]
RIGHT = {"id": "1", "response": "The answer is 4.", "ground_truth": "4"}
ANYTHING: Any = "vald"
WRONG = {"id": "2", "response": "The answer is 5.", "ground_truth": "4"}
# Options of the command that Python has another word for, and those whose work is done by the run or the caller.
ELSEWHERE = {
    "data": "the first argument",
    "as_json": "run.document()",
    "quiet": "progress=False",
    "log_json": "the logger `mixseek`",
    "dry_run": "mixseek.forecast",
    "junit": "run.junit(path)",
    **dict.fromkeys(("github_summary", "summary_file"), "run.markdown()"),
}


def test_the_surface_is_pinned() -> None:
    """A name that appears or disappears here is a decision, not an accident."""
    assert mixseek.__all__ == SURFACE


@each("name", mixseek.__all__)
def test_every_name_of_the_surface_is_there(name: str) -> None:
    """Lazily, and in dir() as well."""
    assert getattr(mixseek, name).__name__ == name
    assert name in dir(mixseek)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Not a KeyError from inside."""
    with pytest.raises(AttributeError, match="no attribute 'jugde'"):
        _ = mixseek.jugde  # type: ignore[attr-defined]  # the point of the test


def command_options() -> dict[str, Any]:
    """What stands in the annotation of each parameter of the command."""
    hints = get_type_hints(judge_command, include_extras=True)
    return {name: get_args(hint)[-1] for name, hint in hints.items() if get_origin(hint) is Annotated}


def test_the_command_and_the_function_take_the_same() -> None:
    """What one of them can do and the other cannot is a defect."""
    typed = command_options().keys() - ELSEWHERE.keys()

    assert typed | {"progress"} == set(mixseek.JudgeOptions.__annotations__)
    assert set(inspect.signature(mixseek.judge).parameters) == {"data", *mixseek.JudgeOptions.__annotations__}


def test_an_audit_takes_the_same_from_both() -> None:
    """What a terminal needs is elsewhere."""
    hints = get_type_hints(audit_command, include_extras=True)
    typed = {name for name, hint in hints.items() if get_origin(hint) is Annotated}

    assert typed - {"judge", "old_data", *ELSEWHERE} | {"progress"} == set(mixseek.AuditOptions.__annotations__)


def test_numbers_have_the_bounds_of_the_command() -> None:
    """Shares are in 0..1 on both sides."""
    infinite = float("inf")
    typed = {
        name: (0, 1) if option.parser is parse_share else (option.min, infinite if option.max is None else option.max)
        for name, option in command_options().items()
        if option.parser is parse_share or option.min is not None
    }

    assert typed == {name: one.bounds for name, one in declarations(JudgeOptions).items() if one.bounds is not None}


@each(
    ("options", "message"),
    [
        ({"protocol": "semantci"}, "semantci"),
        ({"judges": ["rulse"]}, "did you mean 'rules'"),
        ({"judges": []}, "no judge"),
        ({"judges": 5}, "type int"),
        ({"judges": ["rules", "rules"]}, "given twice"),
        ({"limit": 0}, "limit=0: give a number of at least 1"),
        ({"fail_under": 80}, "fail_under=80: give a number from 0 to 1"),
        ({"max_undecided": float("nan")}, "max_undecided=nan"),
        ({"panel": "most"}, "majority, unanimous"),
        ({"panel": "mean", "cascade": True}, "choose one of both"),
        ({"max_drop": 0.1}, "give baseline"),
        ({"baseline": "x"}, "give workspace"),
        ({"gate_on": "lower"}, "give that too"),
        ({"mapping": {"response": "nowhere"}}, "nowhere"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    """Before anything is judged, and with the words of the command line."""
    with pytest.raises(ConfigurationError, match=message) as refused:
        mixseek.judge([RIGHT], **options)

    assert "\n" not in str(refused.value)


def test_an_option_that_is_none_is_a_type_error() -> None:
    """As for any function; with what was probably meant."""
    with pytest.raises(TypeError, match="no option 'jugdes'; did you mean 'judges'"):
        mixseek.judge([RIGHT], jugdes="rules")  # type: ignore[call-arg]  # the point of the test


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "a value of type int"),
        ({"response": "x"}, "a value of type dict"),
        ([RIGHT, "x"], "data: row 2 is a value of type str"),
        ([RIGHT, {"id": "2"}], "data: row 2: row has no `response`"),
        ([RIGHT, RIGHT], "data: rows 1 and 2 have the same id '1'"),
        ([], "data: the dataset is empty"),
        ("nowhere.jsonl", "nowhere.jsonl: no such file"),
    ],
)
def test_data_that_cannot_be_judged_are_named_by_their_row(data: Any, message: str, tmp_path: Path) -> None:
    """As a line of a file would be."""
    with pytest.raises(DatasetError, match=message):
        mixseek.judge(data, workspace=tmp_path / "ws")


def as_relation(rows: list[dict[str, str]]) -> duckdb.DuckDBPyRelation:
    """A table that offers the Arrow stream interface, and nothing else of a frame."""
    values = ", ".join(f"({row['id']!r}, {row['response']!r}, {row['ground_truth']!r})" for row in rows)
    return duckdb.connect().sql(f"FROM (VALUES {values}) AS t(id, response, ground_truth)")


class Stream:
    """Anything with the one method."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self._relation = as_relation(rows)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


def test_every_kind_of_data_is_the_same_data(tmp_path: Path) -> None:
    """List, generator, samples, a file and a table: the same judgments, and in memory even the same run."""
    rows = [RIGHT, WRONG]
    samples = [mixseek.Sample(row["id"], row["response"], ground_truth=row["ground_truth"]) for row in rows]
    kinds: dict[str, Any] = {
        "list": rows,
        "generator": (row for row in rows),
        "samples": samples,
        "stream": Stream(rows),
        "relation": as_relation(rows),
    }
    runs = {kind: mixseek.judge(data) for kind, data in kinds.items()}
    file = mixseek.judge(write_jsonl(tmp_path / "rows.jsonl", rows))

    assert len({run.name for run in runs.values()}) == 1
    for run in (*runs.values(), file):
        assert [(one.sample, one.verdict) for one in run] == list(zip(samples, ("correct", "incorrect"), strict=True))


def test_in_memory_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the working directory, and not in the temporary one once the run is gone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    run = mixseek.judge([RIGHT])
    run.report()
    run.sql("FROM judgments").fetchall()
    assert list(tmp_path.iterdir())
    del run

    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing_behind_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is found before judging or by the engine."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for data in ([RIGHT, 5], [RIGHT, RIGHT]):
        with pytest.raises(DatasetError):
            mixseek.judge(data)  # type: ignore[arg-type]  # the point of the test

    assert list(tmp_path.iterdir()) == []


def test_a_workspace_is_that_of_the_command_line(tmp_path: Path) -> None:
    """The same file, the same request: the command shows the run that Python has judged, and Python opens it again."""
    data = write_jsonl(tmp_path / "rows.jsonl", sums(20))
    run = mixseek.judge(data, workspace=tmp_path / "ws", max_undecided=0.5)
    shown = mixseek_here(
        "judge", data, "--workspace", tmp_path / "ws", "--json", "--max-undecided", "0.5", cwd=tmp_path
    )
    again = mixseek.open_run(run.name, tmp_path / "ws")

    assert shown.returncode == 0
    assert "nothing was judged again" in shown.stderr
    document = run.document()
    assert {**document, "seconds": 0} == {**again.document(), "seconds": 0, "notices": document["notices"]}
    assert f'"run": "{run.name}"' in shown.stdout
    assert run.ok
    assert again.ok


def test_notices_go_to_the_log_and_stay_with_the_run(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is printed; who wants to hear it listens to the logger `mixseek`."""
    caplog.set_level(logging.INFO, "mixseek")
    run = mixseek.judge([RIGHT, {"id": "2", "response": "x"}], progress=False)

    assert run.notices == ("1 of 2 rows has no ground_truth: undecided by rules",)
    assert caplog.messages == list(run.notices)


def test_gates_and_gaps_are_in_the_run() -> None:
    """Neither raises: the numbers are there all the same."""
    failed = mixseek.judge([RIGHT, WRONG], fail_under=0.9)
    incomplete = mixseek.judge([RIGHT], judges=lambda sample: 1 / 0)

    assert (failed.ok, failed.state) == (False, "gate_not_met")
    assert failed.reasons == ("gate fail_under not met: mean score 50.00%, under the limit of 90.00%",)
    assert [(gate.name, gate.is_met) for gate in failed.gates] == [("fail_under", False)]
    assert (incomplete.ok, incomplete.state) == (False, "incomplete")
    assert incomplete.reasons[-1] == "1 reply is missing; make the same call again to ask for them"


def test_a_run_tells_a_build_server_what_the_command_tells_it(tmp_path: Path) -> None:
    """One case for the gate, one for the wrong answer; and the same for a person who reads Markdown."""
    run = mixseek.judge([RIGHT, WRONG], fail_under=0.8)

    told = ElementTree.fromstring(run.junit(tmp_path / "junit.xml").read_bytes())  # noqa: S314 - our own file
    cases = told.iter("testcase")

    assert [(case.get("name"), case.find("failure") is not None) for case in cases] == [
        ("--fail-under", True),
        ("2", True),
    ]
    assert "--fail-under" in run.markdown()
    assert "The answer is ⟦5⟧." in run.markdown()


def test_a_judge_of_ones_own_is_enough_of_a_judge() -> None:
    """Anything with a name and a reply."""

    class Silent:
        name = "silent"

        def reply(self, sample: mixseek.Sample, protocol: JudgeProtocol) -> Reply | Missing:
            return Missing("says nothing")

    run = mixseek.judge([RIGHT], protocol=mixseek.load_protocol("semantic", "ja"), judges=[Silent(), "rules"])

    assert [(one.judge, one.status) for one in run] == [("silent", "missing"), ("rules", "valid")]


def test_settings_are_those_of_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """mixseek.toml holds for Python too; only the workspace is not taken from it."""
    (tmp_path / "mixseek.toml").write_text('workspace = "ws"\n[judge]\njudges = ["rulse"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="rulse"):
        mixseek.judge([RIGHT])

    assert mixseek.judge([RIGHT], judges="rules").ok
    assert not (tmp_path / "ws").exists()


def test_forecasts_send_nothing() -> None:
    """`--dry-run`: how many calls there would be."""
    (asked,) = mixseek.forecast([RIGHT, WRONG], judges="openai:m@http://127.0.0.1:9/v1").forecasts

    assert asked.calls == 2


def test_ratings_of_a_run_and_of_rows_are_counted() -> None:
    """The door to `mixseek stats`."""
    rows = [{"item": number, "judge": who, "score": number % 2} for number in range(6) for who in ("a", "b")]

    assert mixseek.statistics(rows).ratings == 12
    assert mixseek.statistics(mixseek.judge([RIGHT, WRONG])).ratings == 2


def test_votes_and_boards_of_rows_are_those_of_the_commands(tmp_path: Path) -> None:
    """The doors to `mixseek stats --votes --jury --length` and `mixseek leaderboard`, with a run's own beside them."""
    rows = [
        {"item": n, "judge": who, "model_a": "owl", "model_b": "wren", "preference": "A>B" if n % 3 else "B>A",
         "shown": "AB", "gold": "A>B", "ratio": 1 + n % 4}
        for n in range(12) for who in "xyz"
    ]  # fmt: skip
    board = mixseek.leaderboard(rows, length="ratio", path=tmp_path / "board.html")
    told = mixseek.vote_statistics(rows, jury=True, length="ratio", gold="gold")

    assert (board.source, board.panel, board.strengths.comparisons) == ("data", "majority", 12)
    assert board.strengths.wins["owl", "wren"] == 8
    assert str(board).startswith("data: 2 systems, 12 comparisons, 12 questions, by x, y, z")
    assert "owl" in (tmp_path / "board.html").read_text()
    assert mixseek.leaderboard(rows, where="judge = 'x'").panel is None
    assert [one.judge for one in told.votes] == ["x", "y", "z"]
    assert told.jury is not None
    assert (told.jury.items, len(told.length)) == (12, 3)
    with pytest.raises(ConfigurationError, match=r"^data: nothing says who is compared"):
        mixseek.leaderboard([{"item": 1, "judge": "x", "score": 1}])
    texts = {"response_a": "quokka", "response_b": "numbat", "target_a": "owl", "target_b": "wren"}
    pairs = [{"id": f"{n}", "question": f"{n}?", **texts} for n in range(6)]

    def prefer_quokka(sample: mixseek.Sample, messages: Any) -> str:
        return "[[A]]" if str(messages).index("quokka") < str(messages).index("numbat") else "[[B]]"

    run = mixseek.judge(pairs, judges=prefer_quokka, protocol="pairwise", progress=False)
    assert mixseek.leaderboard(run).strengths.wins["owl", "wren"] == 6


@pytest.mark.parametrize("module", ["mixseek.api.judging", "mixseek.api.run", "mixseek.judges.function"])
def test_the_examples_in_the_documentation_run(module: str) -> None:
    """Examples are doctests or do not exist."""
    result = doctest.testmod(import_module(module), optionflags=doctest.ELLIPSIS)

    assert result.attempted
    assert result.failed == 0


@each(
    ("options", "words"),
    [
        ({"mapping": "response=output"}, "mapping='response=output': it takes Mapping[str, str]"),
        ({"mapping": {"response": 3}}, "it takes Mapping[str, str]"),
        ({"run": 5}, "run=5: it takes str"),
        ({"language": 3}, "language=3: it takes str"),
        ({"limit": 1.5}, "limit=1.5: it takes int"),
        ({"cascade": "no"}, "cascade='no': it takes bool"),
        ({"workspace": 5}, "workspace=5: it takes str | "),
        ({"protocol": 5}, "protocol: a value of type int"),
    ],
)
def test_an_option_of_another_type_is_one_clear_line(options: Any, words: str) -> None:
    """Not a traceback from somewhere inside, and not the opposite of what was meant: 'no' is true."""
    with pytest.raises(ConfigurationError) as caught:
        mixseek.judge([RIGHT], **options)
    assert words in str(caught.value)


def test_bytes_are_text_and_what_cannot_be_is_named_by_its_row(tmp_path: Path) -> None:
    """A response is judged as it was written, never as Python would show it."""
    (one,) = mixseek.judge([{**RIGHT, "response": b"The answer is 4."}])
    assert one.sample.response == "The answer is 4."
    inside: list[Any] = []
    inside.append(inside)
    for bad, words in ((b"\xff", "row 1 has bytes in it that are no UTF-8 text"), (inside, "row 1 is nested too deep")):
        with pytest.raises(DatasetError, match=words):
            mixseek.judge([{**RIGHT, "more": bad}])
    (tmp_path / "file").write_text("taken")
    with pytest.raises(mixseek.MixseekError, match="cannot keep a copy of data: not a directory"):
        mixseek.judge([RIGHT], workspace=tmp_path / "file")


def test_print_shows_comparisons_and_statistics_as_the_commands_do() -> None:
    """As the page says; rows in memory have no file's name in it, nor in what is wrong with them."""
    before, after = mixseek.judge([WRONG]), mixseek.judge([WRONG | {"response": "It is 4."}])
    assert "\nBetter (1)\n  2" in str(mixseek.compare(before, after))
    ratings = [{"item": 1, "judge": "a", "score": 1}]
    assert str(mixseek.statistics(ratings)).startswith("data: 1 rating")
    with pytest.raises(mixseek.MixseekError, match=r"^data: no column for the score"):
        mixseek.statistics([{"item": 1}])


def test_a_word_that_is_none_is_told_with_those_there_are_and_one_name_is_not_its_letters(tmp_path: Path) -> None:
    """`by="task_name"` is one column."""
    run, wrong = mixseek.judge([{**RIGHT, "task_name": "sums"}]), ANYTHING
    for call in (lambda: run.report(panel=wrong), lambda: mixseek.compare(run, run, panel=wrong)):
        with pytest.raises(ConfigurationError, match="panel='vald': it is one of majority, unanimous"):
            call()
    with pytest.raises(ConfigurationError, match="status='vald': it is one of valid, invalid"):
        list(run.judgments(wrong))
    assert run.report(tmp_path / "report.html", by="task_name").is_file()


def test_evaluate_and_compete_refuse_what_they_do_not_know_instead_of_leaving_it_out() -> None:
    """A limit on cost with a slip in its name would be none."""
    wrong: Any = {"max_csot": 1}
    for call, name in ((mixseek.evaluate, "evaluate"), (mixseek.compete, "compete")):
        with pytest.raises(TypeError, match=f"mixseek.{name} has no option 'max_csot'; did you mean 'max_cost'"):
            call(*("q", "text")[: 2 if name == "evaluate" else 1], **wrong)
    with pytest.raises(ConfigurationError, match="concurrency=0: give a number from 1 to 4096"):
        mixseek.evaluate("q", "text", concurrency=0)
    no_texts: Any = [1]
    for given, words in (
        (no_texts, "submission '1': a value of type int"),
        (no_texts[0], "submissions: a value of type"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            mixseek.evaluate("q", given)


def test_what_pandas_calls_empty_is_no_answer_and_a_named_index_is_a_column() -> None:
    """`to_dict("records")` gives pd.NA: judged as a text, nothing would be a wrong answer."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DatasetError, match="row 1: `response` is null"):
        mixseek.judge([{**RIGHT, "response": pandas.NA}])
    (one,) = mixseek.judge([{**RIGHT, "when": pandas.NaT}])
    assert one.sample.metadata == {"when": None}
    frame = pandas.DataFrame([RIGHT, WRONG])
    for index in ("id", ["id", "ground_truth"]):
        assert [one.sample.id for one in mixseek.judge(frame.set_index(index))] == ["1", "2"]


def test_a_whole_number_is_known_by_what_it_is_and_not_by_the_name_of_its_class() -> None:
    """numpy registers its integers as `numbers.Integral`, as whoever writes a number of their own can."""

    class Whole:
        def __int__(self) -> int:
            return 1

    numbers.Integral.register(Whole)
    limit: Any = Whole()
    # Its name begins as that of `int64` does.
    no_number: Any = type("interval", (), {})()

    assert len(list(mixseek.judge([RIGHT, WRONG], limit=limit))) == 1
    with pytest.raises(ConfigurationError, match="limit="):
        mixseek.judge([RIGHT, WRONG], limit=no_number)


def test_numbers_of_numpy_are_numbers() -> None:
    """As a limit, and in the reply of a function."""
    numpy = pytest.importorskip("numpy")

    def says(sample: mixseek.Sample) -> dict[str, Any]:
        said = {"id": 1, "extracted_answer": "4", "error_type": "none", "comment": ""}
        return {**said, "is_correct": numpy.bool_(True), "reasoning_score": numpy.int64(4)}

    assert [one.verdict for one in mixseek.judge([RIGHT, WRONG], judges=says, limit=numpy.int64(1))] == ["correct"]
