"""Judging from Python where people do: a script, a running event loop, a server's handler, a notebook, frames."""

import asyncio
import importlib.util
import json
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from nbclient import NotebookClient
from tests.flows.live import KEYS, riddles, wait_until
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import environment, mixseek_here, sums, write_jsonl
from tests.flows.warm import hearing
from tests.waiting import is_asleep, patiently

import mixseek
from mixseek.api.run import require
from mixseek.errors import ConfigurationError

SAME_CODE = """
import mixseek

run = mixseek.judge("riddles.jsonl", judges="{spec}")
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Loopback]:
    with loopback() as mock:
        yield mock


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_jsonl(tmp_path / "riddles.jsonl", riddles(12))
    monkeypatch.chdir(tmp_path)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def run_python(code: str, place: Path) -> subprocess.CompletedProcess[str]:
    """As a script of somebody who has never heard of `__main__`."""
    (place / "script.py").write_text(textwrap.dedent(code), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "script.py"],
        cwd=place,
        env=environment(**KEYS),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_script_needs_no_main_guard(place: Path) -> None:
    """Enough rows for several processes; nothing is printed but what the script prints, and that once."""
    write_jsonl(place / "sums.jsonl", sums(4_100))
    done = run_python(
        """
        import json, mixseek
        with open("sums.jsonl", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        run = mixseek.judge(iter(rows), judges="rules", workers=2)
        print(run.summary.header.samples, sum(1 for one in run if one.verdict == "correct"))
        """,
        place,
    )

    assert (done.stdout, done.stderr) == ("4100 2460\n", "")


def test_a_running_loop_is_no_obstacle_and_goes_on(endpoint: Loopback, place: Path) -> None:
    """`judge` works there as in a notebook; `ajudge` lets other tasks run meanwhile."""

    async def main() -> tuple[mixseek.Run, mixseek.Run]:
        async def release() -> None:
            async with patiently("a request"):
                while endpoint.requests == asked:
                    await asyncio.sleep(0.005)
            endpoint.release()

        blocking = mixseek.judge("riddles.jsonl", judges=endpoint.spec)
        endpoint.hold()
        asked = endpoint.requests
        # Nobody else lets the answers through: it runs while they are waited for, or nothing ends.
        releasing = asyncio.create_task(release())
        awaited = await mixseek.ajudge("riddles.jsonl", judges=endpoint.spec)
        await releasing
        return blocking, awaited

    try:
        blocking, awaited = asyncio.run(main())
    finally:
        endpoint.release()

    assert blocking.ok
    assert [one.verdict for one in blocking] == [one.verdict for one in awaited]


def test_a_handler_of_a_server_judges_what_it_gets(endpoint: Loopback, place: Path) -> None:
    """Several at once, each with a run of its own."""

    async def handle(request: web.Request) -> web.Response:
        run = await mixseek.ajudge(await request.json(), judges=endpoint.spec, progress=False)
        return web.json_response(run.document())

    async def main() -> list[dict[str, Any]]:
        app = web.Application()
        app.router.add_post("/judge", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/judge"

        async def ask(client: ClientSession, count: int) -> dict[str, Any]:
            async with client.post(url, json=riddles(count)) as response:
                answer: dict[str, Any] = await response.json()
                return answer

        try:
            async with ClientSession() as client:
                return await asyncio.gather(*(ask(client, count) for count in (3, 5)))
        finally:
            await runner.cleanup()

    answers = asyncio.run(main())

    assert [(answer["samples"], answer["complete"]) for answer in answers] == [(3, True), (5, True)]


def test_a_cancelled_run_is_resumed(place: Path) -> None:
    """What was in flight comes home first; judging again asks only for the rest."""
    with loopback() as slow:
        slow.hold(after=2)

        async def judge_a_moment() -> None:
            task = asyncio.create_task(mixseek.ajudge("riddles.jsonl", judges=slow.spec, workspace="ws", concurrency=1))
            async with patiently("three requests"):
                while slow.requests < 3:
                    await asyncio.sleep(0.01)
            task.cancel()
            slow.release()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(judge_a_moment())
        asked = slow.requests
        left = mixseek.open_run(workspace="ws")
        run = mixseek.judge("riddles.jsonl", judges=slow.spec, workspace="ws")

    assert 3 <= asked < 12
    assert left.state is mixseek.RunState.INCOMPLETE
    assert "make the same call again" in left.reasons[-1]
    assert run.ok
    assert slow.requests == 12
    assert run.notices[0].startswith("resuming run riddles-semantic")


def test_ctrl_c_leaves_a_run_that_can_be_resumed(place: Path) -> None:
    """And is a KeyboardInterrupt for the script, like any."""
    with loopback() as slow:
        slow.hold()
        code = f"""
            import mixseek
            try:
                mixseek.judge("riddles.jsonl", judges="{slow.spec}", workspace="ws", concurrency=1)
            except KeyboardInterrupt:
                print("caught")
            """
        (place / "script.py").write_text(textwrap.dedent(code), encoding="utf-8")
        with hearing():
            process = subprocess.Popen(
                [sys.executable, "script.py"], cwd=place, env=environment(**KEYS), stdout=subprocess.PIPE, text=True
            )
        # The first is in flight, and stays so until the signal has been sent.
        assert wait_until(lambda: slow.requests >= 1, process)
        process.send_signal(signal.SIGINT)
        # Heard before the first reply comes: eleven more take less time than a thread may wait for its turn.
        assert wait_until(lambda: is_asleep(process.pid), process)
        slow.release()
        out, _ = process.communicate(timeout=180)
        asked = slow.requests
        run = mixseek.judge("riddles.jsonl", judges=slow.spec, workspace="ws")

    assert (process.returncode, out) == (0, "caught\n")
    assert asked < 12
    assert run.ok
    assert slow.requests == 12


def test_a_limit_that_is_reached_is_in_the_run(endpoint: Loopback, place: Path) -> None:
    """Stopped by itself: no exception, but incomplete, with the reason."""
    run = mixseek.judge("riddles.jsonl", judges=endpoint.spec, max_calls=4, concurrency=1)

    assert run.state is mixseek.RunState.INCOMPLETE
    assert run.reasons[0].startswith("stopped: max_calls=4")
    assert sum(1 for one in run if one.verdict) == 4


def test_a_notebook_shows_progress_a_table_and_a_report(place: Path, endpoint: Loopback) -> None:
    """Executed by a real kernel, whose loop is running; the same lines as in a script."""
    cells = [
        SAME_CODE.format(spec=endpoint.spec) + "run",
        "path = run.report('report.html'); run.sql('select verdict, count(*) as n from judgments group by all')",
        "print((await mixseek.ajudge(run.sql('select * from judgments'), progress=False)).ok)",
    ]
    written: list[Any] = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "source": cell,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for number, cell in enumerate(cells)
    ]
    document = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    # Its functions have no types.
    nbformat: Any = importlib.import_module("nbformat")
    notebook = nbformat.reads(json.dumps(document), as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(place)}}).execute()
    first, second, third = (cell["outputs"] for cell in notebook["cells"])

    progress, table = (output["data"] for output in first)
    assert "12/12 samples" in progress["text/plain"]
    assert "<progress" in progress["text/html"]
    assert "<table>" in table["text/html"]
    assert "mean score" in table["text/html"]
    assert "correct" in json.dumps(second)
    assert [output["text"] for output in third] == ["True\n"]
    assert "<!doctype html>" in (place / "report.html").read_text(encoding="utf-8")[:20].lower()
    script = run_python(SAME_CODE.format(spec=endpoint.spec) + "print(run.ok)\n", place)
    assert (script.stdout, script.stderr) == ("True\n", "")


def test_what_is_shown_in_a_cell_is_escaped() -> None:
    """A name of a judge or a reason is text, whoever wrote it; no script, whatever theme."""

    def broken(sample: mixseek.Sample) -> str:
        raise ValueError("<script>alert(1)</script>")

    judge = mixseek.function_judge(broken, name="<b>me</b>")
    page = mixseek.judge([{"response": "4", "ground_truth": "4"}], judges=judge)._repr_html_()

    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;me" in page
    assert "color" not in page


def test_a_cell_draws_the_headline_and_leads_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n}?", "response": str(n % 5), "ground_truth": str(n)} for n in range(10)]
    run = mixseek.judge(rows, judges="rules", workspace="ws", run="a&b")
    before = run._repr_html_()
    done = mixseek_here("report", "a&b", "--workspace", "ws", cwd=tmp_path)
    after = run._repr_html_()

    assert done.returncode == 0, done.stderr
    assert re.search(
        r'<svg [^>]*role="img" aria-label="mean score 50.0%, 95% Wilson interval 23.7–76.3%, 10 samples"', before
    )
    assert "<code>.report(&quot;report.<wbr>html&quot;)</code> writes it" in before
    assert '<a href="ws/runs/a%26b/report.html" target="_blank" rel="noopener">ws/runs/a&amp;b/report.html</a>' in after


def test_a_library_that_is_not_there_is_one_line() -> None:
    """With the command that brings it."""
    with pytest.raises(ConfigurationError, match=r"^to_polars: polarz is not installed; pip install polarz$"):
        require("polarz", "to_polars")


def test_runs_of_two_workspaces_are_compared(tmp_path: Path) -> None:
    """By their objects, in memory or not, and even where both have one name."""
    rows = sums(10)
    before = mixseek.judge([{**row, "response": "It is 0."} for row in rows], run="same")
    after = mixseek.judge(rows, run="same", workspace=tmp_path / "ws")
    compared = after.compare(before, tmp_path / "page.html")

    assert compared.difference.sums.better == 6
    assert compared.difference.sums.worse == 0
    assert "same against same" in str(compared)
    assert "rules" in str(mixseek.statistics(after))
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_sql_and_files_have_the_same_columns(tmp_path: Path) -> None:
    """Those of `mixseek export`; a bad query is one line. A run can be looked at in several ways at once."""
    run = mixseek.judge(sums(10))
    judgments = run.judgments()
    first = next(judgments)
    rows = run.sql("select id, verdict, rules from judgments where status = 'valid'")
    run.report(tmp_path / "report.html")

    assert first.sample.id == "sum-0"
    assert len(rows.fetchall()) == 8
    assert len(list(judgments)) == 9
    with pytest.raises(ConfigurationError, match=r"sql: .*nowhere"):
        run.sql("select * from nowhere")


@pytest.mark.optin
def test_frames_of_every_library_go_in_and_come_out(tmp_path: Path) -> None:
    """pandas, polars and pyarrow; the same rows whichever way."""
    rows = sums(10)
    frames: dict[str, Any] = {
        "pandas": lambda library: library.DataFrame(rows),
        "polars": lambda library: library.DataFrame(rows),
        "pyarrow": lambda library: library.Table.from_pylist(rows),
    }
    expected = [(one.sample.id, one.verdict) for one in mixseek.judge(rows)]
    for name, make in frames.items():
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed (extra `frames`)")
        run = mixseek.judge(make(importlib.import_module(name)))

        assert [(one.sample.id, one.verdict) for one in run] == expected
        assert run.to_arrow().num_rows == run.to_polars().height == len(run.to_pandas()) == 10
        assert run.to_arrow().column_names == run.to_polars().columns == list(run.to_pandas().columns)
