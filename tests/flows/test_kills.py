"""kill -9 at the moment of every write: the same command again ends where a calm one does, and nothing is left."""

import contextlib
import http.client
import itertools
import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.conftest import at_most
from tests.flows.arena import write
from tests.flows.dying import dying
from tests.flows.label_material import answers, fill, judge_answers, know_better, label
from tests.flows.live import export, journal_lines, judge_arguments, riddles, verdicts
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, start, write_jsonl
from tests.flows.test_compete import OFFLINE
from tests.waiting import PATIENCE_SECONDS

from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

pytestmark = pytest.mark.thorough

KILLED = -9
MOST_MOMENTS = 200
JUDGED = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run, a sheet that was drawn from it and filled in, and an archive of it."""
    place = tmp_path_factory.mktemp("made")
    judge_answers(place, answers(20))
    label(place, "sample", "r", "--n", "8", "--seed", "5", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", know_better)
    archived = mixseek_here("archive", "r", "-w", "ws", cwd=place)
    assert archived.returncode == 0, archived.stderr
    write(place, OFFLINE)
    return place


def kills(made: Path, tmp_path: Path, *words: str, below: str = "ws") -> Iterator[Path]:
    """A copy of what is there for each moment, after a command was killed at that moment; none when it ended well."""
    for moment in itertools.count(1):
        assert moment < MOST_MOMENTS, "it never ends"
        place = tmp_path / str(moment)
        shutil.copytree(made, place)
        process = start(*words, cwd=place, **dying(moment, below))
        _, err = process.communicate()
        if process.returncode == 0:
            # As many as a write takes at least: before its beginning, in its middle, and before it is on disk.
            assert moment > 3
            return
        assert process.returncode == KILLED, err
        yield place
        shutil.rmtree(place)


def finish(place: Path, *words: str) -> None:
    """The same command once more; and nothing is left behind by the one that was killed."""
    done = mixseek_here(*words, cwd=place)
    assert done.returncode == 0, done.stderr
    assert leftovers(place) == []


def leftovers(place: Path) -> list[str]:
    found = [path for path in place.rglob("*") if path.name.startswith(".") or path.name.endswith((".old", ".tmp"))]
    return [str(path.relative_to(place)) for path in found]


def report_of(place: Path, run: str = "r") -> dict[str, Any]:
    done = mixseek_here("report", run, "-w", "ws", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def labels_of(place: Path) -> list[tuple[str, str, float]]:
    return sorted((one.text, one.rater, one.share) for one in LabelStore(Workspace(place / "ws")).read())


def test_label_import(made: Path, tmp_path: Path) -> None:
    """Whatever part of the lines was written: each text has one label in the end, and the estimate is the same."""
    words = ("label", "import", "filled.csv", "--rater", "mia", "-w", "ws")
    calm = Path(shutil.copytree(made, tmp_path / "calm"))
    finish(calm, *words)
    wanted = labels_of(calm), report_of(calm)["corrected"]

    for place in kills(made, tmp_path, *words):
        # Right after the kill everything can be read.
        assert set(labels_of(place)) <= set(wanted[0])
        report_of(place)
        finish(place, *words)
        assert (labels_of(place), report_of(place)["corrected"]) == wanted


def test_runs_mv(made: Path, tmp_path: Path) -> None:
    """The run has one name at every moment, and in the end everything bears the new one."""
    words = ("runs", "mv", "r", "new", "-w", "ws")

    for place in kills(made, tmp_path, *words):
        (name,) = [entry.name for entry in (place / "ws" / "runs").iterdir()]
        assert name in ("r", "new")
        report_of(place, name)
        # Where the directory was the last thing left to do, nothing is.
        done = mixseek_here(*words, cwd=place)
        assert done.returncode == 0 or (name == "new" and done.returncode == 2), done.stderr
        marker = json.loads((place / "ws/runs/new/archive/archive.json").read_text(encoding="utf-8"))
        draws = LabelStore(Workspace(place / "ws")).draws()
        assert (marker["run"], [one.run for one in draws], report_of(place, "new")["run"]) == ("new", ["new"], "new")
        check = mixseek_here("archive", "--check", "ws/runs/new/archive", cwd=place)
        assert check.returncode == 0, check.stdout
        assert leftovers(place) == []


def test_archive(made: Path, tmp_path: Path) -> None:
    """An archive that was there is there, the old or the new one, as soon as the next command has begun."""
    words = ("archive", "r", "-w", "ws")

    for place in kills(made, tmp_path, *words):
        finish(place, *words)
        check = mixseek_here("archive", "--check", "ws/runs/r/archive", cwd=place)
        assert check.returncode == 0, check.stdout


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_export(name: str, made: Path, tmp_path: Path) -> None:
    """The next one removes what the killed one had begun, wherever that was; the file is whole or not there."""
    (made / "there").mkdir(exist_ok=True)
    words = ("export", "r", "-w", "ws", "--to", f"there/{name}")
    calm = Path(shutil.copytree(made, tmp_path / "calm"))
    finish(calm, *words)

    for place in kills(made, tmp_path, *words, below=""):
        there = place / "there" / name
        if there.exists():
            assert there.read_bytes() == (calm / "there" / name).read_bytes()
        # Another one, to another place.
        finish(place, "export", "r", "-w", "ws", "--to", "elsewhere.csv")


def test_compete(made: Path, tmp_path: Path) -> None:
    """Each round is played once and stored once."""
    words = ("compete", "race.toml", "--execution", "e", "-w", "ws", "--json", "--quiet")

    def scores_of(place: Path) -> list[Any]:
        done = mixseek_here("leaderboard", "e", "-w", "ws", "--json", cwd=place)
        assert done.returncode == 0, done.stderr
        teams = json.loads(done.stdout)["teams"]
        return [[(entry.get("round_number"), entry["score"]) for entry in team["rounds"]] for team in teams]

    calm = Path(shutil.copytree(made, tmp_path / "calm"))
    finish(calm, *words)
    wanted = scores_of(calm)

    for place in kills(made, tmp_path, *words):
        finish(place, *words)
        assert scores_of(place) == wanted


def test_judge(tmp_path: Path) -> None:
    """Each answer of the endpoint is paid for: no more is asked for again than was in flight at the kill."""
    made = tmp_path / "made"
    made.mkdir()
    write_jsonl(made / "data.jsonl", riddles(JUDGED))
    with loopback() as endpoint:
        words = judge_arguments("data.jsonl", endpoint.spec, "--concurrency", "1", "--quiet")
        calm = Path(shutil.copytree(made, tmp_path / "calm"))
        finish(calm, *words)
        wanted = verdicts(export(calm)), figures_of(calm)
        paid = endpoint.requests
        assert paid == JUDGED

        for place in kills(made, tmp_path, *words):
            finish(place, *words)
            assert paid + JUDGED <= endpoint.requests <= paid + JUDGED + 1
            assert len(journal_lines(place, "reply")) == JUDGED
            assert (verdicts(export(place)), figures_of(place)) == wanted
            paid = endpoint.requests


def figures_of(place: Path) -> dict[str, Any]:
    """All that a report says, but when it was and how long the calls took."""
    document = report_of(place)
    return {name: value for name, value in document.items() if name not in ("started_at", "ended_at", "calls")}


# A label in the viewer.


class Person:
    """Talks to a viewer as its page does."""

    def __init__(self, link: str) -> None:
        address = urlsplit(link)
        self.connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        self.headers = {
            "Authorization": f"Bearer {parse_qs(address.query)['key'][0]}",
            "Origin": f"{address.scheme}://{address.netloc}",
            "Content-Type": "application/json",
        }

    def close(self) -> None:
        self.connection.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Again as long as the answer is being prepared."""
        with at_most(PATIENCE_SECONDS, f"{method} {path}"):
            while True:
                self.connection.request(method, path, json.dumps(body) if body is not None else None, self.headers)
                answer = self.connection.getresponse()
                text = answer.read()
                if answer.status != 202:
                    assert answer.status == 200, text
                    return json.loads(text)
                time.sleep(0.02)

    def label_first(self) -> None:
        """With the same id whenever it is sent."""
        items = self.ask("GET", "/api/runs/r/review/queue?queue=filter:&rater=mia")["items"]
        text = min(text for text, _ in items)
        label = {"id": "label-01", "queue": "filter:", "text": text, "rater": "mia", "verdict": "correct", "seconds": 1}
        self.ask("POST", "/api/runs/r/review/labels", label)


def while_viewing(place: Path, act: Callable[[Person], None], **extra: str) -> int:
    """The exit code of a viewer in which somebody does something."""
    viewer = start("view", "--no-open", "-w", "ws", cwd=place, **extra)
    try:
        with contextlib.closing(Person(viewer.stdout.readline().split()[-1])) as person:
            act(person)
        viewer.send_signal(signal.SIGTERM)
    finally:
        viewer.communicate()
    assert viewer.returncode is not None
    return viewer.returncode


def label_and_lose(person: Person) -> None:
    """The page sees that the server is gone."""
    with contextlib.suppress(ConnectionError, http.client.HTTPException):
        person.label_first()


def test_a_label_in_the_viewer(made: Path, tmp_path: Path) -> None:
    """The page sends what had no answer again: it is there once, whether or not it had been written."""
    for moment in itertools.count(1):
        assert moment < MOST_MOMENTS, "it never ends"
        place = Path(shutil.copytree(made, tmp_path / str(moment)))
        code = while_viewing(place, label_and_lose, **dying(moment, "labels.jsonl"))
        if code == 0:
            break
        assert code == KILLED
        assert while_viewing(place, Person.label_first) == 0
        store = LabelStore(Workspace(place / "ws"))
        assert [(one.rater, one.share) for one in store.read()] == [("mia", 1.0)]
        assert len(store.lines()) == 1
        assert leftovers(place) == []
    assert moment > 3
