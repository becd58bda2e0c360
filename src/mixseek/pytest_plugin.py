"""Answers judged in tests: the fixtures `judged` and `judged_row`. Off unless a test asks for one of them.

pytest loads this module whenever it starts, so nothing of mixseek is imported before a test needs it.
"""

import difflib
import io
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mixseek.api.run import Run
    from mixseek.domain.panels import PanelState

MARKER = "judged"
_UNJUDGED = ("fail", "skip")
# As long as a test may be expected to wait for an endpoint that is down; `patience=…` wins.
_PATIENCE_SECONDS = 60.0
_LOOKS_AGAIN_SECONDS = 0.1
_WIDTH = 100
# How much of a name two have in common when one is a slip of the other.
_SLIP = 0.85
_WORDS = {
    "undecided": "undecided: the judges decline to decide, which says nothing about the answer; put a model behind the "
    "rules, as in judges=['rules', 'openai:…'], cascade=True",
    "invalid": "invalid: the judge's reply cannot be used, which says nothing about the answer",
    "missing": "missing: no reply could be had; run the test again",
    "split": "split: the judges disagree, and the panel's rule gives no verdict",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Settings under `[tool.pytest.ini_options]`, or in pytest.ini."""
    parser.addini("mixseek_judges", "who judges; specs as after --judge, one a line", type="linelist", default=[])
    parser.addini("mixseek_cascade", "ask the next judge only where none before it gave a judgment", type="bool")
    parser.addini("mixseek_protocol", "semantic (default), rubric, cross, or the path of a TOML file", default="")
    parser.addini("mixseek_workspace", "where judgments are kept; default: in pytest's own cache", default="")
    parser.addini("mixseek_at_least", "the least score that passes, 0 to 1; default: 1", default="1")
    parser.addini("mixseek_unjudged", "fail (default) or skip where there is no verdict", default="fail")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARKER}(data, **options): one test for each row of DATA, through the fixture judged_row"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each row of the dataset that the marker names."""
    if "judged_row" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None or len(marker.args) != 1:
        # pytest shows the sentence alone, without a way through our code.
        raise pytest.Collector.CollectError(f"judged_row: mark the test with @pytest.mark.{MARKER}('answers.jsonl')")
    from mixseek.datasets.reader import open_dataset
    from mixseek.errors import MixseekError
    from mixseek.settings.load import load_settings

    path = metafunc.definition.path.parent / marker.args[0]
    try:
        dataset = open_dataset(
            str(path),
            mapping=marker.kwargs.get("mapping") or {},
            spool_directory=None,
            longest_line=load_settings().judge.longest_line,
        )
        names = [sample.id for batch in dataset.batches(1_000) for sample in batch]
    except MixseekError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    metafunc.parametrize("judged_row", [(path, name) for name in names], ids=names, indirect=True)


@pytest.fixture
def judged(request: pytest.FixtureRequest) -> "Judging":
    """`judged("…", ground_truth="…")` judges an answer, and fails the test where it is not found good enough."""
    return Judging(request.config)


@pytest.fixture
def judged_row(request: pytest.FixtureRequest) -> "JudgedAnswer":
    """One row of the marker's dataset, judged together with all others; call it to check it."""
    path, name = request.param
    marker = request.node.get_closest_marker(MARKER)
    answers = Judging(request.config).judge_file(path, marker.kwargs)
    return answers[name]


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What became of one answer. `score` (0 to 1) and `verdict` are None unless `state` is `valid`."""

    id: str
    state: str
    verdict: str | None
    score: float | None
    run: "Run"
    config: pytest.Config

    def __call__(self, *, at_least: float | None = None, unjudged: str | None = None) -> "JudgedAnswer":
        """Fails the test, with what the judges said, unless there is a score that is high enough."""
        __tracebackhide__ = True
        complaint = self.complaint(at_least)
        if complaint is not None:
            if self.score is None and self.reads_unjudged(unjudged) == "skip":
                pytest.skip(complaint.splitlines()[0])
            pytest.fail(complaint, pytrace=False)
        return self

    def complaint(self, at_least: float | None = None) -> str | None:
        """None where the answer passes."""
        least = self.reads_least() if at_least is None else at_least
        if self.score is not None and self.score >= least:
            return None
        if self.score is None:
            first = _WORDS[self.state]
        else:
            first = f"{self.verdict}: score {self.score:.3g}, and at least {least:.3g} is wanted"
        again = shlex.join(["mixseek", "show", self.run.name, self.id, "--workspace", str(self.run.workspace)])
        return f"{first}\n\n{self.shown_sample()}\n{again}"

    def shown_sample(self) -> str:
        """What `mixseek show` shows, in colour where this is read on a terminal and kept nowhere else."""
        from rich.console import Console

        from mixseek.analysis.run.sample_rows import load_sample
        from mixseek.presentation.render.terminal import print_sections
        from mixseek.reports.excerpts import cut_row
        from mixseek.reports.run.sample import sample_sections

        has_colour = self.config.get_terminal_writer().hasmarkup and not self.config.getoption("xmlpath", None)
        page = io.StringIO()
        console = Console(file=page, width=_WIDTH, force_terminal=has_colour, no_color=not has_colour)
        rows = load_sample(self.run.workspace, self.run.name, self.id)
        print_sections(sample_sections([cut_row(row) for row in rows]), console)
        return page.getvalue()

    def reads_least(self) -> float:
        text = self.config.getini("mixseek_at_least")
        try:
            return float(text)
        except ValueError:
            raise pytest.UsageError(f"mixseek_at_least: {text!r} is no number; give one from 0 to 1") from None

    def reads_unjudged(self, given: str | None) -> str:
        chosen = given or self.config.getini("mixseek_unjudged")
        if chosen not in _UNJUDGED:
            raise pytest.UsageError(f"mixseek_unjudged: {chosen!r} is neither 'fail' nor 'skip'")
        return str(chosen)


@dataclass(frozen=True, slots=True)
class Judging:
    """The fixture `judged`: the settings of the session, and what it has judged so far."""

    config: pytest.Config

    def __call__(
        self, response: str, *, at_least: float | None = None, unjudged: str | None = None, **given: Any
    ) -> JudgedAnswer:
        """Fails the test unless the answer is good enough.

        `given` are columns of the sample (`question`, `ground_truth`, `rubric`, …) and options of `mixseek.judge`
        (`judges`, `protocol`, `cascade`, …). An answer that was judged before is not judged again.
        """
        __tracebackhide__ = True
        columns, options = split_columns(given)
        (answer,) = self.rows([{"id": "answer", **columns, "response": response}], **options)
        return answer(at_least=at_least, unjudged=unjudged)

    def rows(self, rows: Iterable[Mapping[str, Any]], **options: Any) -> list[JudgedAnswer]:
        """Several answers at once, judged concurrently; in their order, and not checked yet: call each to check it."""
        __tracebackhide__ = True
        return self.answers_of(self.judge([dict(row) for row in rows], options))

    def judge_file(self, path: Path, options: Mapping[str, Any]) -> dict[str, JudgedAnswer]:
        """The answers by id; once in a session."""
        __tracebackhide__ = True
        known = self.config.stash.setdefault(_JUDGED_FILES, {})
        key = (str(path), repr(sorted(options.items())))
        if key not in known:
            known[key] = {answer.id: answer for answer in self.answers_of(self.judge(path, options))}
        return known[key]

    def judge(self, data: Path | Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> "Run":
        """What cannot be judged at all fails the test with the one line that the command line would print."""
        __tracebackhide__ = True
        from mixseek.api.judging import judge
        from mixseek.errors import BusyError, MixseekError

        settings = {**self.settings(), **options, "progress": False}
        while True:
            try:
                run = judge(data, **settings)
                break
            except BusyError:
                # Another worker of pytest-xdist is at the same answers; what it has judged is then there.
                time.sleep(_LOOKS_AGAIN_SECONDS)
            except MixseekError as error:
                # From None: pytest would say the same line once for each error behind it.
                raise pytest.fail.Exception(f"cannot be judged: {error}", pytrace=False) from None
        if run.reasons and run.reasons[0].startswith("stopped: "):
            # Samples that nobody came to have no answer at all.
            pytest.fail(f"cannot be judged: {run.reasons[0].removeprefix('stopped: ')}", pytrace=False)
        return run

    def settings(self) -> dict[str, Any]:
        """The settings of the ini-file; what is not set there is as in mixseek.toml, or as mixseek has it."""
        named = self.config.getini("mixseek_workspace")
        workspace = self.config.rootpath / named if named else self.cache()
        configured = {name: self.config.getini(f"mixseek_{name}") for name in ("judges", "protocol", "cascade")}
        chosen = {name: value for name, value in configured.items() if value}
        return {"patience": _PATIENCE_SECONDS, "workspace": workspace, **chosen}

    def cache(self) -> Path:
        """Cleared by `pytest --cache-clear`; without a cache of pytest's, where the command line keeps its runs."""
        cache = getattr(self.config, "cache", None)
        return self.config.rootpath / ".mixseek" if cache is None else Path(cache.mkdir("mixseek"))

    def answers_of(self, run: "Run") -> list[JudgedAnswer]:
        """One for each sample, whatever number of judges there was."""
        return [
            JudgedAnswer(name, state.value, verdict, score, run, self.config)
            for name, state, verdict, score in settle(run)
        ]


_JUDGED_FILES: pytest.StashKey[dict[tuple[str, str], dict[str, JudgedAnswer]]] = pytest.StashKey()


def split_columns(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What belongs to the sample, and what to the judging; `rubric` is the sample's own text."""
    from mixseek.domain.samples import Sample
    from mixseek.settings.options import JudgeOptions

    __tracebackhide__ = True
    known = {*JudgeOptions.__annotations__, *Sample.__dataclass_fields__}
    for name in given:
        # A column may have any name, but a slip in an option's would judge otherwise than was asked, without a word.
        close = () if name in known else difflib.get_close_matches(name, known, n=1, cutoff=_SLIP)
        if close:
            pytest.fail(f"cannot be judged: {name!r}: did you mean {close[0]!r}?", pytrace=False)
    options = {
        name: value for name, value in given.items() if name in JudgeOptions.__annotations__ and name != "rubric"
    }
    return {name: value for name, value in given.items() if name not in options}, options


def settle(run: "Run") -> "list[tuple[str, PanelState, str | None, float | None]]":
    """Id, state, verdict and score of each sample, after the rule of the panel."""
    from mixseek.analysis.run.summarise import settle_run
    from mixseek.domain.panels import PanelState
    from mixseek.index.run import open_run_index
    from mixseek.storage.journal.manifest import read_manifest
    from mixseek.storage.workspace import Workspace

    manifest = read_manifest(run.directory.manifest)
    with open_run_index(Workspace(run.workspace), run.directory) as index:
        panel = settle_run(index, manifest)
        rows = panel.ask("SELECT id, state, verdict, value FROM units ORDER BY sample")
    return [(name, PanelState(state), verdict, value) for name, state, verdict, value in rows]
