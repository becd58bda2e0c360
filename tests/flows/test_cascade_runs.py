"""`mixseek judge DATA --cascade cascade.toml`: what is decided, by whom, and what is never done."""

import contextlib
import csv
import itertools
import json
import math
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each
from tests.flows.label_material import fill, read_sheet
from tests.flows.live import KEYS
from tests.flows.loopback import Asked, Given, Hand, answering, completion, refusal
from tests.flows.running import mixseek_here, read_jsonl, the_one_line, write_jsonl
from tests.flows.test_cascade_plan import ROWS, TIERS, make_workspace, ok, plan, replies, riddles, truth
from tests.once import made_once
from tests.unit.web.viewing import Client, look

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


# Live judges.


def token_reply(asked: Asked) -> Given:
    """An answer to a riddle with the probabilities of its verdict's tokens; wrong ones are unsure."""
    number = int(re.findall(rb"has (\d+) legs", asked.body)[-1])
    is_correct = bool(number % 3) ^ (number % 10 == 7)
    sure = 0.6 + number % 4 / 100 if number % 10 == 7 else 0.9 + number % 10 / 200
    head = '{"id": 1, "is_correct": '
    grade = '5, "error_type": "none"' if is_correct else '1, "error_type": "wrong_logic"'
    rest = f', "extracted_answer": "house {number}", "reasoning_score": {grade}, "comment": "c"}}'
    words = ("true", "false") if is_correct else ("false", "true")
    tokens = [
        {"token": part, "logprob": 0.0, "top_logprobs": [{"token": part, "logprob": 0.0}]} for part in (head, rest)
    ]
    chances = [
        {"token": word, "logprob": math.log(chance)} for word, chance in zip(words, (sure, 1 - sure), strict=True)
    ]
    tokens.insert(1, {**chances[0], "top_logprobs": chances})
    usage = {"prompt_tokens": 100, "completion_tokens": 50}
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": head + words[0] + rest},
        "logprobs": {"content": tokens},
    }
    document = {"id": "x", "model": "hand", "choices": [choice], "usage": usage}
    return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()


class Sayer:
    """An endpoint whose answers a test changes while it runs."""

    def __init__(self) -> None:
        self.answer: Callable[[Asked], Given] = token_reply
        self.asked: list[int] = []

    def __call__(self, asked: Asked) -> Given:
        self.asked.append(int(re.findall(rb"has (\d+) legs", asked.body)[-1]))
        return self.answer(asked)


LIVE_ROWS = 120


def settings(place: Path, hand: Hand, **more: Any) -> None:
    table = {"model": "hand", "base_url": hand.base_url, "logprobs": True, "price_input": 1, "price_output": 1, **more}
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    (place / "mixseek.toml").write_text("\n".join(["[judges.tok]", *lines]) + "\n", encoding="utf-8")


@contextlib.contextmanager
def live_cascade(place: Path) -> Iterator[tuple[Sayer, Hand]]:
    """A live judge that says how sure it is, and a recorded one after it; planned on labels of everything."""
    sayer = Sayer()
    rows = [{**row, "label": truth(row)} for row in riddles(LIVE_ROWS)]
    write_jsonl(place / "live.jsonl", rows)
    spec = replies(place, "ivo", 0.02, rows)
    with answering(sayer) as hand:
        settings(place, hand)
        both = ("--judge", "tok", "--judge", spec)
        done = mixseek_here("judge", "live.jsonl", *both, "--run", "all", "-w", "ws", "-q", cwd=place, env=KEYS)
        assert done.returncode == 0, done.stderr
        assert sorted(sayer.asked) == list(range(LIVE_ROWS))
        code, planned = plan(place, "all", "--tier", "tok", "--price", "tok=0.1", "--price", "ivo=1")
        assert (code, planned["tiers"][0]["confidence"]) == (0, "logprobs")
        threshold = planned["tiers"][0]["threshold"]
        assert 0.64 < threshold < 0.96
        sayer.asked.clear()
        yield sayer, hand


def live(place: Path, *words: str, run: str = "routed") -> subprocess.CompletedProcess[str]:
    return judge(place, "cascade.toml", "--run", run, "--no-cache", *words, data="live.jsonl", env=KEYS)


def unsure() -> set[str]:
    return {f"riddle-{number}" for number in range(LIVE_ROWS) if number % 10 == 7}


def test_a_live_judge_decides_where_its_tokens_are_sure_enough(tmp_path: Path) -> None:
    """As the plan read it, each text asked once; and nobody again when the command is given again."""
    with live_cascade(tmp_path) as (sayer, _):
        everything = {row["id"]: row for row in rows_of(tmp_path, "all") if row["judge"] == "tok"}
        done = live(tmp_path)
        assert done.returncode == 0, done.stderr
        assert sorted(sayer.asked) == list(range(LIVE_ROWS))
        again = live(tmp_path)
        assert (again.returncode, len(sayer.asked)) == (0, LIVE_ROWS), again.stderr
    threshold = read_cascade(tmp_path / "cascade.toml").tiers[0].threshold
    wanted = {name: row["verdict"] for name, row in everything.items() if row["confidence_value"] >= threshold}

    assert verdicts_of(rows_of(tmp_path, "routed")) == wanted
    assert set(everything) - set(wanted) == unsure()


def test_what_an_endpoint_did_not_say_is_asked_for_again_and_nothing_else(tmp_path: Path) -> None:
    """Refusals for a part of the texts: people have them, until somebody asks for those once more."""
    with live_cascade(tmp_path) as (sayer, _):
        sayer.answer = lambda asked: refusal(400, "no") if sayer.asked[-1] % 6 == 5 else token_reply(asked)
        first = live(tmp_path)
        assert "Traceback" not in first.stderr
        (draw,) = draws_of(tmp_path, "routed")
        sayer.answer = token_reply
        sayer.asked.clear()
        done = live(tmp_path, "--retry-refused")
        assert done.returncode == 0, done.stderr
        assert sorted(set(sayer.asked)) == [number for number in range(LIVE_ROWS) if number % 6 == 5]
    rows = rows_of(tmp_path, "routed")

    assert {row["id"] for row in rows if row["status"] != "valid"} == unsure()
    assert draws_of(tmp_path, "routed") == [draw]


def test_a_run_that_is_out_of_calls_draws_nothing_before_it_goes_on(tmp_path: Path) -> None:
    """And each text is asked about once."""
    with live_cascade(tmp_path) as (sayer, _):
        first = live(tmp_path, "--max-calls", "50")
        assert first.returncode != 0
        assert (len(sayer.asked), draws_of(tmp_path, "routed")) == (50, [])
        done = live(tmp_path)
        assert done.returncode == 0, done.stderr
        assert sorted(sayer.asked) == list(range(LIVE_ROWS))

    assert {row["id"] for row in rows_of(tmp_path, "routed") if row["status"] != "valid"} == unsure()
    assert len(draws_of(tmp_path, "routed")) == 1


def test_an_invalid_reply_hands_the_text_on_until_it_is_retried(tmp_path: Path) -> None:
    with live_cascade(tmp_path) as (sayer, _):
        sayer.answer = lambda asked: completion("I would say so.") if sayer.asked[-1] % 6 == 5 else token_reply(asked)
        first = live(tmp_path)
        assert first.returncode == 0, first.stderr
        invalid = {row["id"] for row in rows_of(tmp_path, "routed") if row["status"] == "invalid"}
        assert invalid == {f"riddle-{number}" for number in range(LIVE_ROWS) if number % 6 == 5}
        sayer.answer = token_reply
        sayer.asked.clear()
        done = live(tmp_path, "--retry-invalid")
        assert done.returncode == 0, done.stderr
        assert {f"riddle-{number}" for number in sayer.asked} == invalid
    rows = rows_of(tmp_path, "routed")

    assert {row["id"] for row in rows if row["status"] != "valid"} == unsure()


def test_a_retried_member_may_let_a_later_judge_decide(tmp_path: Path) -> None:
    """What that one had handed on counts from then on, though it is not asked again."""
    rows = [{**row, "label": truth(row)} for row in riddles(LIVE_ROWS)]
    write_jsonl(tmp_path / "live.jsonl", rows)
    specs = [replies(tmp_path, "ada", 0.12, rows), replies(tmp_path, "ivo", 0, rows)]
    sayer = Sayer()
    with answering(sayer) as hand:
        settings(tmp_path, hand, logprobs=False)
        words = ("--judge", "tok", *(f"--judge={spec}" for spec in specs), "--run", "all")
        done = mixseek_here("judge", "live.jsonl", *words, "-w", "ws", "-q", cwd=tmp_path, env=KEYS)
        assert done.returncode == 0, done.stderr
        said = {(row["id"], row["judge"]): row["verdict"] for row in rows_of(tmp_path, "all")}
        tiers = ("--tier", "small=tok+ada", "--tier", "ivo", "--agree", "80%")
        plan(tmp_path, "all", *tiers, "--out", "planned.toml")
        sign(tmp_path / "planned.toml", tmp_path / "cascade.toml", small=1.0, ivo=0.6)
        # The live one differs from the other small judge, and says what the large one says.
        late = {
            text
            for text in (row["id"] for row in rows)
            if said[text, specs[0]] != said[text, "tok"] == said[text, specs[1]]
        }
        assert len(late) > 5
        sayer.answer = lambda asked: refusal(400, "no") if f"riddle-{sayer.asked[-1]}" in late else token_reply(asked)
        assert live(tmp_path).returncode == 0
        assert late.isdisjoint(verdicts_of(rows_of(tmp_path, "routed")))
        sayer.answer = token_reply
        done = live(tmp_path, "--retry-refused", "--json")
        assert done.returncode == 0, done.stderr
    decided = verdicts_of(rows_of(tmp_path, "routed"))

    assert {text: decided[text] for text in late} == {text: said[text, specs[1]] for text in late}
    assert json.loads(done.stdout)["route"]["decided"] == len(decided)


def test_another_model_behind_the_same_name_ends_it(tmp_path: Path) -> None:
    """With one line, and exit 1."""
    with live_cascade(tmp_path) as (sayer, _):
        sayer.answer = lambda asked: other_model(token_reply(asked))
        done = live(tmp_path)

    assert done.returncode == 1
    assert "judge tok: model version hand, now hand-2" in the_one_line(done)


def other_model(given: Given) -> Given:
    status, headers, body = given
    return status, headers, body.replace(b'"model": "hand"', b'"model": "hand-2"')


@each(
    ("change", "message"),
    [
        ({"model": "hand-2"}, "judge tok: model hand, now hand-2"),
        ({"temperature": 0.5}, "judge tok: temperature "),
        ({"base_url": "http://127.0.0.1:9/v1"}, "judge tok: base_url "),
        ({"logprobs": False}, "judge tok: "),
    ],
)
def test_another_live_judge_is_never_asked(
    tmp_path_factory: pytest.TempPathFactory, change: dict[str, Any], message: str
) -> None:
    place = tmp_path_factory.mktemp("live")
    with live_cascade(place) as (sayer, hand):
        settings(place, hand, **change)
        done = live(place)
        assert (done.returncode, sayer.asked) == (1, []), done.stderr
        assert message in the_one_line(done)
        assert not (place / "ws" / "runs" / "routed").exists()


# What people see.


def fresh(place: Path, cascade: str, *words: str) -> Draw:
    """A run in a workspace where nobody has labelled anything; its draw."""
    shutil.rmtree(place / "ws" / "labels")
    done = judge(place, cascade, "--run", "fresh", *words)
    assert done.returncode == 0, done.stderr
    (draw,) = draws_of(place, "fresh")
    return draw


def import_draw(
    place: Path,
    draw: Draw,
    rater: str,
    say: Callable[[Mapping[str, str]], str],
    *words: str,
    order: Callable[[list[dict[str, str]]], list[dict[str, str]]] = lambda rows: rows,
) -> None:
    """Somebody fills in the sheet of a draw."""
    ok(place, "label", "sample", "fresh", "--draw", draw.draw, "--to", "left.csv")
    assert len(read_sheet(place / "left.csv")) == len(draw.rows)
    fill(place / "left.csv", place / "said.csv", say)
    rows = order(read_sheet(place / "said.csv"))
    with (place / "said.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    ok(place, "label", "import", "said.csv", "--rater", rater, *words)


def lie(row: Mapping[str, str]) -> str:
    return "incorrect" if truth(row) == "correct" else "correct"


def watch(place: Path, cascade: str = "people.toml") -> dict[str, Any]:
    done = mixseek_here("cascade", "watch", cascade, "-w", "ws", "--json", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["is_drift"] == (done.returncode == 1)
    return found


def test_all_that_was_left_is_drawn_and_a_part_of_each_verdict(place: Path) -> None:
    """Chances are written down, and labels of the whole draw correct the headline by them."""
    draw = fresh(place, "people.toml", "--audit-share", "10%")
    decided = verdicts_of(rows_of(place, "fresh"))
    sizes = Counter(decided.values())
    strata = {stratum.values[0]: (stratum.texts, stratum.drawn) for stratum in draw.strata}
    drawn = [row for row in draw.rows if draw.strata[row.stratum].values[0] == "undecided"]

    assert strata == {
        "undecided": (ROWS - len(decided),) * 2,
        **{verdict: (size, math.ceil(size / 10)) for verdict, size in sizes.items()},
    }
    assert {row.id for row in drawn} == {f"riddle-{number}" for number in range(ROWS)} - set(decided)
    import_draw(place, draw, "noah", truth)
    corrected = document(place, "report", "fresh")["corrected"]
    shares: dict[str, list[float]] = {}
    for row in draw.rows:
        shares.setdefault(draw.strata[row.stratum].values[0], []).append(truth({"id": row.id}) == "correct")
    wanted = sum(strata[verdict][0] * sum(said) / len(said) for verdict, said in shares.items()) / ROWS
    assert (corrected["labelled"], corrected["drawing"]) == (len(draw.rows), "weighted")
    assert corrected["corrected"]["mean"] == pytest.approx(wanted)
    assert corrected["corrected"]["low"] <= wanted <= corrected["corrected"]["high"]
    assert watch(place)["audited"] == len(draw.rows) - len(drawn)


def test_no_share_audits_nothing(place: Path) -> None:
    """What was left goes to people all the same."""
    draw = fresh(place, "people.toml", "--audit-share", "0")

    assert {draw.strata[row.stratum].values[0] for row in draw.rows} == {"undecided"}
    assert watch(place)["drawn"] == 0


def test_last_words_are_no_audits(place: Path) -> None:
    """Everything is drawn and labelled; what the certificate does not speak of tells nothing of it."""
    said = said_by_all(place)
    certified_texts = [text for text, words in said.items() if by_hand(words)[0]]
    wrong = sum(by_hand(said[text])[0] != truth({"id": text}) for text in certified_texts)
    draw = fresh(place, "last.toml", "--audit-share", "100%")
    assert len(draw.rows) == ROWS
    import_draw(place, draw, "noah", truth)
    found = watch(place, "last.toml")

    assert (found["audited"], found["disagreements"]) == (len(certified_texts), wrong)
    assert not found["is_drift"]


def test_drift_refuses_the_file_until_labels_say_otherwise(place: Path) -> None:
    """In whichever order a sheet names them; other certificates stand; a dispute counts by halves."""
    draw = fresh(place, "people.toml", "--audit-share", "20%")
    twin = Path(shutil.copytree(place, place.parent / "twin"))
    import_draw(place, draw, "noah", lie)
    import_draw(twin, draw, "noah", lie, order=lambda rows: rows[::-1])
    runs = sorted(path.name for path in (place / "ws" / "runs").iterdir())

    drifted = watch(place)
    assert drifted["is_drift"]
    assert watch(twin) == drifted
    done = judge(place, "people.toml", "--run", "later")
    assert done.returncode == 1
    assert "people.toml: its certificate holds no longer (of " in the_one_line(done)
    assert sorted(path.name for path in (place / "ws" / "runs").iterdir()) == runs
    assert watch(place, "last.toml")["audited"] == 0
    assert judge(place, "last.toml", "--run", "other").returncode == 0

    import_draw(place, draw, "mia", truth)
    disputed = watch(place)
    assert 0.4 * disputed["audited"] < disputed["disagreements"] < 0.6 * disputed["audited"]
    import_draw(place, draw, "both", truth, "--adjudicate")
    settled = watch(place)
    assert (settled["is_drift"], settled["audited"]) == (False, drifted["audited"])
    assert settled["disagreements"] == drifted["audited"] - drifted["disagreements"]
    import_draw(twin, draw, "noah", truth, "--revise")
    assert watch(twin)["disagreements"] == settled["disagreements"]


# What reads it.


@each(
    "words",
    [
        ("report", "people"),
        ("report", "people", "--to", "r.html"),
        ("show", "people", "riddle-1"),
        ("show", "people", "riddle-1", "--json"),
        ("export", "people", "--to", "r.csv"),
        ("export", "people", "--to", "r.parquet"),
        ("stats", "people"),
        ("stats", "people", "--json"),
        ("compare", "people", "small"),
        ("compare", "people", "last", "--json"),
        ("archive", "people"),
        ("archive", "last"),
        ("runs",),
        ("label", "status"),
        ("cascade", "watch", "people.toml"),
    ],
)
def test_every_reader_reads_it(made: Path, words: tuple[str, ...]) -> None:
    done = mixseek_here(*words, "-w", "ws", cwd=made)

    assert (done.returncode, "Traceback" in done.stderr, "internal error" in done.stderr) == (0, False, False), done


def test_what_was_handed_on_counts_nowhere_as_a_verdict(made: Path) -> None:
    rows = rows_of(made, "people")
    report = document(made, "report", "people")
    judges = {judge["judge"]: judge for judge in report["judges"]}
    decided = verdicts_of(rows)

    for row in rows:
        if row["status"] != "valid":
            told = [row[name] for name in ("score", "verdict", "is_correct", "error_type", "confidence_value")]
            assert (row["status"], told) == ("undecided", [None] * 5)
            assert row["reason"].startswith(("handed on ", "small: its members agree on nothing"))
    assert all(row.get("cost_usd") in (None, 0) for row in rows)
    for name in SMALL:
        assert judges[f"replay:{name}.jsonl"]["counts"]["undecided"] == ROWS
    assert report["headline"]["mean_score"] == pytest.approx(list(decided.values()).count("correct") / len(decided))
    assert report["agreement"] is None
    assert "no probabilities" not in mixseek_here("stats", "people", "-w", "ws", cwd=made).stdout


def test_gates_are_about_samples(place: Path) -> None:
    """A panel's members are undecided on every text, and that is nobody's failure."""
    left = route_of(place, "people")["left"] / ROWS

    assert judge(place, "people.toml", "--run", "people", "--max-undecided", f"{100 * left + 0.1:.1f}%").returncode == 0
    refused = judge(place, "people.toml", "--run", "people", "--max-undecided", f"{100 * left - 0.5:.1f}%")
    assert refused.returncode == 1
    assert "undecided" in refused.stderr


def test_pages_of_it_are_answered(made: Path) -> None:
    """Home, the run, a sample, what waits for people, and the lists behind them."""
    pages = ("/", "/runs/people", "/runs/people/sample?id=riddle-1", "/runs/people/review", "/runs/people/matrix")
    lists = ("/api/workspace", "/api/runs/people", "/api/runs/people/judgments", "/api/runs/people/sample?id=riddle-1")

    async def scenario(client: Client) -> None:
        for page in (*pages, "/runs/last", "/compare?a=people&b=last"):
            assert (page, (await client.wait(page)).status) == (page, 200)
        for address in lists:
            assert (address, (await client.wait(address)).status) == (address, 200)

    look(made / "ws", scenario)
