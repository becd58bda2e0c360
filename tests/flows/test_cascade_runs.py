"""`mixseek judge DATA --cascade cascade.toml`: what is decided, by whom, and what is never done."""

import itertools
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each
from tests.flows.running import mixseek_here, read_jsonl, the_one_line, write_jsonl
from tests.flows.test_cascade_plan import ROWS, TIERS, make_workspace, ok, plan, replies, riddles
from tests.once import made_once

from mixseek.cascades.file import certified, read_cascade, write_cascade
from mixseek.domain.labels import Draw
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

SMALL = ("ada", "bob", "eve")
# Of four: three have to agree with the large judge, where the panel is divided.
ENOUGH = 0.75


def sign(source: Path, target: Path, *, last: str | None = None, **thresholds: float | None) -> None:
    """Another cascade with a certificate that speaks of it, as if labels had shown just that."""
    cascade = read_cascade(source)
    tiers = [tier.model_copy(update={"threshold": thresholds.get(tier.name, tier.threshold)}) for tier in cascade.tiers]
    shown = {tier.name: tier.threshold for tier in tiers if tier.threshold is not None}
    certificate = cascade.certificate.model_copy(update={"digest": "", "thresholds": shown})
    table = cascade.cascade if last is None else cascade.cascade.model_copy(update={"last": last})
    write_cascade(target, certified(table, tiers, certificate))


def make_cascades(place: Path) -> None:
    """The plan's workspace with two cascades: what is left goes to people, or to the large judge."""
    make_workspace(place)
    plan(place, "small", "large", *TIERS)
    sign(place / "cascade.toml", place / "people.toml", ivo=ENOUGH)
    sign(place / "cascade.toml", place / "last.toml", ivo=ENOUGH, last="ivo")
    for name in ("people", "last"):
        judged = judge(place, f"{name}.toml", "--run", name)
        assert judged.returncode == 0, judged.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "cascade-runs", make_cascades)


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A copy of its own."""
    return Path(shutil.copytree(made, tmp_path / "place"))


def judge(
    place: Path, cascade: str, *words: str, data: str = "riddles.jsonl", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return mixseek_here("judge", data, "--cascade", cascade, "-w", "ws", "-q", *words, cwd=place, env=env)


def document(place: Path, *words: str) -> dict[str, Any]:
    done = mixseek_here(*words, "-w", "ws", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def route_of(place: Path, run: str, cascade: str | None = None, data: str = "riddles.jsonl") -> dict[str, Any]:
    """What the command says of a complete run when it is given again."""
    done = judge(place, cascade or f"{run}.toml", "--run", run, "--json", data=data)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["route"]
    return found


def rows_of(place: Path, run: str) -> list[dict[str, Any]]:
    ok(place, "export", run, "--to", f"{run}.rows.jsonl")
    return read_jsonl(place / f"{run}.rows.jsonl")


def verdicts_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """By text: the one verdict that counts."""
    valid = [row for row in rows if row["status"] == "valid"]
    assert len(valid) == len({row["id"] for row in valid})
    return {row["id"]: row["verdict"] for row in valid}


def journal_of(place: Path, run: str) -> Path:
    return place / "ws" / "runs" / run / "journal.jsonl"


def said_by_all(place: Path) -> dict[str, dict[str, str]]:
    """What each judge says of each text where everybody is asked."""
    said: dict[str, dict[str, str]] = {}
    for run in ("small", "large"):
        for row in rows_of(place, run):
            said.setdefault(row["id"], {})[row["judge"].removeprefix("replay:").removesuffix(".jsonl")] = row["verdict"]
    return said


def by_hand(said: Mapping[str, str], enough: float = ENOUGH) -> tuple[str | None, str]:
    """What the file says, in other words: the verdict, and who gives it."""
    small = [said[name] for name in SMALL]
    if len(set(small)) == 1:
        return small[0], "small"
    return (said["ivo"] if (1 + small.count(said["ivo"])) / 4 >= enough else None), "ivo"


def test_a_run_decides_what_the_thresholds_say_of_the_same_judges(made: Path) -> None:
    """Text by text; and how many that are is what the report, the command and the plan count."""
    said = said_by_all(made)
    wanted = {text: by_hand(words) for text, words in said.items()}
    decided = {text: verdict for text, (verdict, _) in wanted.items() if verdict}
    route = route_of(made, "people")
    small = sum(tier == "small" for _, tier in wanted.values())

    assert verdicts_of(rows_of(made, "people")) == decided
    assert 0 < len(decided) < ROWS
    assert [(tier["asked"], tier["decided"]) for tier in route["tiers"]] == [
        (ROWS, small), (ROWS - small, len(decided) - small)
    ]  # fmt: skip
    assert (route["left"], route["by_last"], route["decided"]) == (ROWS - len(decided), 0, len(decided))


def test_as_it_was_planned_so_it_is_decided(place: Path) -> None:
    """The plan's own file on the plan's own texts: as many from each tier."""
    _, planned = plan(place, "small", "large", *TIERS)
    assert judge(place, "cascade.toml", "--run", "as-planned").returncode == 0
    route = route_of(place, "as-planned", "cascade.toml")

    assert [(tier["asked"], tier["decided"]) for tier in route["tiers"]] == [
        (tier["reached"], tier["decided"]) for tier in planned["tiers"]
    ]
    assert route["decided"] == planned["decided"]


def test_the_last_word_is_marked_only_where_the_certificate_does_not_speak(made: Path) -> None:
    """A last judge that is sure enough decides by certificate as any other; what it is not sure of is beside it."""
    said = said_by_all(made)
    unsure = {text for text, words in said.items() if by_hand(words)[0] is None}
    report, rows = route_of(made, "last"), rows_of(made, "last")
    words = mixseek_here("report", "last", "-w", "ws", cwd=made).stdout

    assert verdicts_of(rows) == {text: by_hand(words)[0] or words["ivo"] for text, words in said.items()}
    assert (report["by_last"], report["left"], report["decided"]) == (len(unsure), 0, ROWS - len(unsure))
    assert f"{len(unsure)} have the verdict of the last judge" in words
    records = read_jsonl(journal_of(made, "last"))
    assert {record["id"] for record in records if record.get("fields", {}).get("last_word")} == unsure


def test_a_complete_run_is_shown_again_and_nothing_is_drawn_anew(place: Path) -> None:
    journal = journal_of(place, "people").read_bytes()
    drawn = document(place, "label", "status")

    done = judge(place, "people.toml", "--run", "people")

    assert done.returncode == 0, done.stderr
    assert journal_of(place, "people").read_bytes() == journal
    assert document(place, "label", "status") == drawn
    assert len(draws_of(place, "people")) == 1


def draws_of(place: Path, run: str) -> list[Draw]:
    """As they are kept."""
    return LabelStore(Workspace(place / "ws")).draws(run)


# Cut off.


def cut(source: Path, target: Path, run: str, kept: Sequence[bytes]) -> Path:
    """As a death leaves it that came before anything was sealed."""
    shutil.copytree(source, target)
    journal_of(target, run).write_bytes(b"".join(kept))
    path = journal_of(target, run).with_name("manifest.json")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["journal"]
    path.write_text(json.dumps({**manifest, "status": "running", "finished_at": None}), encoding="utf-8")
    return target


def state_of(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("id", "judge", "status", "verdict", "score", "confidence_value", "reason")
    return sorted(tuple(str(row.get(name)) for name in names) for row in rows)


def few_cascades(place: Path) -> None:
    """Thirty texts and a few of those that are left."""
    decided = verdicts_of(rows_of(place, "people"))
    left = [row for row in riddles(ROWS) if row["id"] not in decided]
    write_jsonl(place / "few.jsonl", [*left[:4], *riddles(30)])
    assert judge(place, "people.toml", "--run", "few", data="few.jsonl").returncode == 0


def test_whatever_is_left_of_a_journal_the_same_command_ends_alike(place: Path, tmp_path: Path) -> None:
    """Cut behind lines, also in the middle of a panel; replies that are there are not there twice."""
    few_cascades(place)
    lines = journal_of(place, "few").read_bytes().splitlines(keepends=True)
    wanted = state_of(rows_of(place, "few"))
    route = route_of(place, "few", "people.toml", "few.jsonl")
    assert route["left"] == 4

    for number in itertools.chain(range(1, 30, 3), range(30, len(lines), len(lines) // 12)):
        there = cut(place, tmp_path / str(number), "few", lines[:number])
        done = judge(there, "people.toml", "--run", "few", data="few.jsonl")
        assert done.returncode == 0, (number, done.stderr)
        assert state_of(rows_of(there, "few")) == wanted, number
        assert route_of(there, "few", "people.toml", "few.jsonl") == route, number
        records = read_jsonl(journal_of(there, "few"))
        asked = [(record["key"], record["judge"]) for record in records if record["t"] == "reply"]
        # A recorded reply whose outcome was cut off is read from its file again, and costs nothing.
        assert len(asked) - len(set(asked)) == (json.loads(lines[number - 1])["t"] == "reply"), number
        shutil.rmtree(there)


# What voids it.


def with_edit(place: Path, old: str, new: str) -> None:
    text = (place / "people.toml").read_text(encoding="utf-8")
    assert old in text
    (place / "people.toml").write_text(text.replace(old, new, 1), encoding="utf-8")


def swap_tiers(place: Path) -> None:
    """The large judge first; nobody is beside it then."""
    text = (place / "people.toml").read_text(encoding="utf-8")
    head, small, rest = text.split("[[tiers]]\n")
    large, certificate = rest.split("\n[certificate]", 1)
    large = "\n".join(line for line in large.splitlines() if not line.startswith("beside"))
    whole = f"{head}[[tiers]]\n{large}\n\n[[tiers]]\n{small}\n[certificate]{certificate}"
    (place / "people.toml").write_text(whole, encoding="utf-8")


@each(
    ("change", "words", "message"),
    [
        (lambda place: with_edit(place, "threshold = 0.75", "threshold = 0.5"), (), "threshold of ivo 0.75, now 0.5"),
        (lambda place: with_edit(place, "agree = 0.95", "agree = 0.9"), (), "the file was edited after it was"),
        (swap_tiers, (), "order of tiers small, ivo, now ivo, small"),
        (lambda place: None, ("--language", "ja"), "protocol language en, now ja"),
        (lambda place: replies(place, "ivo", 0.02, riddles(ROWS)), (), "judge replay:ivo.jsonl: "),
    ],
)  # fmt: skip
def test_whatever_changes_voids_it_before_anything_is_asked_or_written(
    made: Path, tmp_path_factory: pytest.TempPathFactory, change: Any, words: tuple[str, ...], message: str
) -> None:
    place = Path(shutil.copytree(made, tmp_path_factory.mktemp("void") / "place"))
    change(place)
    before = sorted(str(path) for path in (place / "ws" / "runs").iterdir())

    done = judge(place, "people.toml", "--run", "new", *words)

    assert done.returncode == 1, done.stderr
    assert message in the_one_line(done)
    assert "plan again" in done.stderr
    assert sorted(str(path) for path in (place / "ws" / "runs").iterdir()) == before


def test_a_table_certifies_nobody_who_could_be_asked(place: Path) -> None:
    rows = [{"item": str(n), "judge": name, "score": 1} for n in range(100) for name in ("cheap", "people")]
    write_jsonl(place / "t.jsonl", rows)
    plan(place, "t.jsonl", "--human", "people", "--out", "table.toml")

    line = the_one_line(judge(place, "table.toml", "--run", "new"))

    assert "table.toml: of cheap nothing but the name was known (t)" in line or "plan from runs instead" in line
    assert not (place / "ws" / "runs" / "new").exists()


@each(
    ("words", "message"),
    [
        (("--batch",), "--batch: "),
        (("--on", "ray"), "--on ray: "),
        (("--panel", "majority"), "--panel"),
        (("--budget", "30"), "--budget: "),
        (("--judge", "rules"), "leave --judge out"),
        (("--repeats", "3"), "leave --repeats out"),
    ],
)
def test_what_the_file_has_answered_is_refused_in_one_line(made: Path, words: tuple[str, ...], message: str) -> None:
    done = judge(made, "people.toml", "--run", "new", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert message in the_one_line(done)
    assert not (made / "ws" / "runs" / "new").exists()


def test_a_share_of_audits_without_a_file_is_refused(made: Path) -> None:
    done = mixseek_here("judge", "riddles.jsonl", "--judge", "rules", "--audit-share", "2%", "-w", "ws", cwd=made)

    assert done.returncode == 2
    assert "--audit-share" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_first_rows_are_a_run_of_their_own(place: Path) -> None:
    """With its own draw; the whole is another run."""
    assert judge(place, "people.toml", "--run", "first", "--limit", "20").returncode == 0

    refused = judge(place, "people.toml", "--run", "first")

    assert refused.returncode == 2
    assert "another number of samples" in the_one_line(refused)
    assert len({row["id"] for row in rows_of(place, "first")}) == 20
