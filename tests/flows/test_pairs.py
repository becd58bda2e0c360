"""Pairs from outside: both orders through the engine, whatever happens to it, and what can be done with such a run."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.flows.live import KEYS, begin, counts_of, export, journal_lines, judge, wait_until
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek_here, the_one_line, write_jsonl
from tests.flows.warm import Begun

import mixseek
from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

QUESTIONS = 34
TARGETS = ("alpha", "beta", "gamma")
# Three pairs a question, each in two orders.
PAIRS = QUESTIONS * 3
REQUESTS = 2 * PAIRS
PAIRWISE = ("--protocol", "pairwise", "--pairs", "all")
CONCURRENCY = 8


def outputs(questions: int = QUESTIONS) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{number}-{target}",
            "question_id": f"q{number}",
            "question": f"Question {number}: what is {number} and {number}?",
            "response": f"{target.capitalize()} finds that it is {number + number}, after some thought.",
            "target_model": target,
        }
        for number in range(questions)
        for target in TARGETS
    ]


def votes(rows: list[dict[str, Any]]) -> dict[str, tuple[str, str, str]]:
    return {row["id"]: (row["status"], row["verdict"], row["pair_state"]) for row in rows}


def kill_and_release(process: Begun, endpoint: Loopback) -> None:
    """What was held for it is answered, and nobody is there."""
    process.kill()
    process.communicate()
    endpoint.release()


def test_both_orders_keep_every_promise_of_the_engine(tmp_path: Path) -> None:
    """kill -9, a limit on calls, resume, cache, archive and replay: each order is paid for once."""
    data = write_jsonl(tmp_path / "outputs.jsonl", outputs())
    with loopback(MockOptions(log=tmp_path / "requests.log")) as endpoint:
        calm = judge(data, endpoint.spec, *PAIRWISE, cwd=tmp_path, workspace="calm")
        wanted, before = votes(export(tmp_path, "calm")), endpoint.requests
        words = ("judge", str(data), "--judge", endpoint.spec, *PAIRWISE, "--workspace", "ws", "--run", "r", "--json")
        endpoint.hold(after=REQUESTS // 4)
        process = begin(*words, "--concurrency", str(CONCURRENCY), "--no-cache", cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests >= before + REQUESTS // 4 + CONCURRENCY, process)
        kill_and_release(process, endpoint)
        limited = judge(data, endpoint.spec, *PAIRWISE, "--no-cache", "--max-calls", "40", cwd=tmp_path)
        resumed = judge(data, endpoint.spec, *PAIRWISE, "--no-cache", cwd=tmp_path)
        asked = endpoint.requests - before
        cached = judge(data, endpoint.spec, *PAIRWISE, "--run", "again", cwd=tmp_path, workspace="calm")

        assert endpoint.requests - before == asked
    orders = Counter(line["details"]["presentation"] for line in journal_lines(tmp_path, "reply"))

    assert (calm.returncode, limited.returncode, resumed.returncode) == (0, 4, 0), resumed.stderr
    assert cached.returncode == 0, cached.stderr
    assert counts_of(resumed) == counts_of(calm) == {"valid": PAIRS, "invalid": 0, "undecided": 0, "missing": 0}
    assert votes(export(tmp_path)) == wanted
    assert orders == {"ab": PAIRS, "ba": PAIRS}
    assert REQUESTS <= asked <= REQUESTS + CONCURRENCY
    report = json.loads(resumed.stdout)["pairs"]
    assert [(one["target"], one["against"]) for one in report["targets"]] == [
        ("alpha", "beta"),
        ("alpha", "gamma"),
        ("beta", "gamma"),
    ]
    assert all(one["wins"] + one["ties"] + one["losses"] == QUESTIONS for one in report["targets"])
    assert report["judges"][0]["consistency"]["value"] == 1.0
    archived = mixseek_here("archive", "r", "--workspace", "ws", "--to", "kept", cwd=tmp_path)
    checked = mixseek_here("archive", "--check", "kept", cwd=tmp_path)
    assert (archived.returncode, checked.returncode) == (0, 0), checked.stdout
    replies = [
        {"id": line["id"], "order": reply["details"]["presentation"], "reply": reply["text"]}
        for line in journal_lines(tmp_path, "outcome")
        for reply in journal_lines(tmp_path, "reply")
        if reply["key"] == line["key"]
    ]
    recorded = write_jsonl(tmp_path / "replies.jsonl", replies)
    replayed = judge(data, f"replay:{recorded}", *PAIRWISE, cwd=tmp_path, workspace="replayed")
    assert replayed.returncode == 0, replayed.stderr
    assert votes(export(tmp_path, "replayed")) == wanted
    shown = mixseek_here("show", "r", next(iter(wanted)), "--workspace", "ws", cwd=tmp_path)
    assert "Response B" in shown.stdout
    assert "A first: " in shown.stdout


def test_one_order_that_was_asked_again_is_archived_as_the_one_reply_it_was(tmp_path: Path) -> None:
    """And `archive --check` reads it as it was shown, whatever the other order said."""
    data = write_jsonl(tmp_path / "outputs.jsonl", outputs(8))
    with loopback(MockOptions(latency_seconds=0, fault_rate=0.4, faults=(Fault.PROSE,))) as endpoint:
        done = judge(data, endpoint.spec, *PAIRWISE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    mixseek_here("archive", "r", "--workspace", "ws", "--to", "kept", cwd=tmp_path)
    checked = mixseek_here("archive", "--check", "kept", cwd=tmp_path)
    files = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "kept" / "无效评测").rglob("*.json")]

    assert checked.returncode == 0, checked.stdout
    assert sum("replies" not in file and isinstance(file["reply"], str) for file in files) > 3


ROWS = [
    {
        "id": str(n),
        "question_id": f"q{n // 2}",
        "question": "Which?",
        "response_a": f"one {n}",
        "response_b": f"two {n}",
    }
    | {"target_a": "one", "target_b": "two", "winner": "tie" if n in (4, 7) else "model_a"}
    for n in range(20)
]


def test_recorded_orders_that_agree_contradict_or_are_absent_end_as_they_should(tmp_path: Path) -> None:
    """Two winners, a judge that likes the first place, a tie in one order, one reply that says nothing, one missing."""
    said = {"A": "[[A]]", "B": "[[B]]", "tie": "[[C]]", "nothing": "Hard to say.", "gone": None}
    both = {0: ("A", "B"), 1: ("B", "A"), 2: ("A", "A"), 3: ("tie", "B"), 4: ("A", "nothing"), 5: ("A", "gone")}
    both |= {6: ("nothing", "nothing"), 7: ("tie", "tie")}
    write_jsonl(tmp_path / "pairs.jsonl", ROWS[: len(both)])
    replies = [
        {"id": str(number), "order": order, "reply": said[word]}
        for number, words in both.items()
        for order, word in zip(("AB", "BA"), words, strict=True)
        if said[word] is not None
    ]
    write_jsonl(tmp_path / "replies.jsonl", replies)
    done = judge("pairs.jsonl", "replay:replies.jsonl", "--protocol", "pairwise", cwd=tmp_path)
    rows = export(tmp_path)

    assert done.returncode == 4, done.stderr
    assert list(votes(rows).values()) == [
        ("valid", "A", "agreed"),
        ("valid", "B", "agreed"),
        ("valid", "tie", "position"),
        ("valid", "tie", "partial"),
        ("undecided", None, None),
        ("missing", None, None),
        ("invalid", None, None),
        ("valid", "tie", "agreed"),
    ]
    judged = json.loads(done.stdout)["pairs"]["judges"][0]
    assert judged["states"] == {"agreed": 3, "position": 1, "partial": 1}
    assert (judged["consistent"], judged["first_both"], judged["second_both"]) == (2, 1, 0)
    assert judged["without_a_vote"] == 3
    # People say A of the first four and a tie of the last: of the five with a verdict, the first and the last agree.
    assert (judged["human_agreement"]["pairs"], judged["human_agreement"]["value"]) == (5, 0.4)
    report = mixseek_here("report", "r", "--workspace", "ws", "--to", "r.html", cwd=tmp_path)
    assert "Both orders" in report.stdout
    assert "1 for what came first" in report.stdout
    assert "Targets against each other" in (tmp_path / "r.html").read_text(encoding="utf-8")


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


ARENA = {"model_a": "owl", "model_b": "finch"}
SHAPES: list[dict[str, Any]] = [
    {
        "id": "0",
        **ARENA,
        "conversation_a": turns("q0?", "a"),
        "conversation_b": turns("q0?", "b"),
        "winner": "model_b",
    },
    {
        "id": "1",
        "conversation_a": turns("q1?", "a", "And?", "a2"),
        "conversation_b": turns("q1?", "b", "And?", "b2"),
        **ARENA,
        "winner": "owl",
    },
    {
        "id": "2",
        "prompt": "q2?",
        "chosen": turns("q2?", "x", "More?", "a"),
        "rejected": turns("q2?", "x", "More?", "b"),
    },
    {"id": "3", "prompt": "q3?", "chosen": "a", "rejected": "b"},
    {"id": "4", "question": "q4?", "response_a": "a", "response_b": "b", "model_a": "owl", "model_b": "owl"},
]


def test_pairs_are_read_in_the_shapes_that_people_have(tmp_path: Path) -> None:
    """Arenas' conversations, preference data, a winner by its name; a target against itself wins nothing by it."""
    write_jsonl(tmp_path / "pairs.jsonl", SHAPES)
    replies = [
        {"id": row["id"], "order": order, "reply": said}
        for row in SHAPES
        for order, said in (("AB", "[[A]]"), ("BA", "[[B]]"))
    ]
    write_jsonl(tmp_path / "replies.jsonl", replies)
    done = judge("pairs.jsonl", "replay:replies.jsonl", "--protocol", "pairwise", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    read = [(row["question"], row["response"], row["response_b"]) for row in export(tmp_path)]
    told = json.loads(done.stdout)

    assert read == [
        ("q0?", "a", "b"),
        ("q1?", "assistant: a\n\nuser: And?\n\nassistant: a2", "assistant: b\n\nuser: And?\n\nassistant: b2"),
        ("user: q2?\n\nassistant: x\n\nuser: More?", "a", "b"),
        ("q3?", "a", "b"),
        ("q4?", "a", "b"),
    ]
    agreed = told["pairs"]["judges"][0]["human_agreement"]
    assert (agreed["pairs"], agreed["value"]) == (4, 0.75)
    assert [(one["target"], one["against"], one["losses"]) for one in told["pairs"]["targets"]] == [("finch", "owl", 2)]
    assert {one["target"]: one["mean_score"] for one in told["headline"]["targets"]} == {"owl": 1.0, "finch": 0.0}

    # A cell of CSV is text, so lists are JSON there, or what Python prints.
    with (tmp_path / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, list(SHAPES[0]))
        lines.writeheader()
        for row, write in ((SHAPES[0], json.dumps), (SHAPES[1], str)):
            cells = {name: write(value) if isinstance(value, list) else value for name, value in row.items()}
            lines.writerow(cells)
    options = ("--protocol", "pairwise", "--judge", "replay:replies.jsonl", "--workspace", "cells", "--run")
    mixseek_here("judge", "pairs.csv", *options, "r", cwd=tmp_path)
    assert [(one["question"], one["response"], one["response_b"]) for one in export(tmp_path, "cells")] == read[:2]
    mixseek_here("judge", write_jsonl(tmp_path / "unnamed.jsonl", SHAPES[3:4]), *options, "un", cwd=tmp_path)
    refused = the_one_line(mixseek_here("leaderboard", "un", "-w", "cells", cwd=tmp_path))
    assert "judge it again with --map target_model=COLUMN" in refused
    assert "--system" not in refused

    pair = {"instruction": "q?", "output_1": "a", "output_2": "b", "generator_1": "owl", "generator_2": "finch"}
    write_jsonl(tmp_path / "alpaca.jsonl", [{**pair, "annotator": "x", "preference": 1.2}])
    done = judge("alpaca.jsonl", "openai:m@http://127.0.0.1:9/v1", "--protocol", "pairwise", "--dry-run", cwd=tmp_path)
    assert json.loads(done.stdout)["calls"] == 2, done.stderr


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (outputs(2), ("--protocol", "pairwise"), "response_b"),
        (outputs(2), ("--protocol", "semantic", "--pairs", "all"), "use --protocol pairwise"),
        (outputs(2), ("--protocol", "pairwise", "--pairs", "some"), "it is all, baseline:MODEL, or how many"),
        (outputs(2), ("--protocol", "pairwise", "--pairs", "baseline:alpah"), "did you mean 'alpha'?"),
        ([{"id": "1", "question": "q", "response": "r"}], PAIRWISE, "target_model"),
        (outputs(1)[:1], PAIRWISE, "two targets are needed: q0"),
        ([ROWS[0] | {"human_preference": "perhaps"}], ("--protocol", "pairwise"), "A, B or tie"),
        (ROWS, ("--protocol", "pairwise", "--map", "response_c=x"), "did you mean"),
        ([dict.fromkeys(("chosen", "rejected"), turns("q?"))], ("--protocol", "pairwise"), "no response in it"),
    ],
)
def test_what_cannot_be_paired_is_refused_in_one_line(
    tmp_path: Path, rows: list[dict[str, Any]], more: tuple[str, ...], said: str
) -> None:
    write_jsonl(tmp_path / "data.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", [{"id": "x", "reply": "A"}])
    done = judge("data.jsonl", "replay:replies.jsonl", *more, cwd=tmp_path)

    assert done.returncode == 2
    assert said in the_one_line(done)


def test_pairs_are_drawn_by_the_seed_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    """From Python, with a function that prefers the shorter response, wherever it stands."""

    def shorter(sample: mixseek.Sample) -> dict[str, Any]:
        assert sample.response_b is not None
        return {"comment": "", "reasons": [], "verdict": "A" if len(sample.response) < len(sample.response_b) else "B"}

    # What is right of an output is no preference between two.
    rows = [
        *({**row, "ground_truth": "2", "preference": "A"} for row in outputs(6)),
        {"id": "lonely", "question_id": "q9", "question": "?", "response": "x", "target_model": "alpha"},
    ]
    rows.append({"id": "mute", "question_id": "q9", "question": "?", "target_model": "beta", "response_error": "down"})

    def ids(**options: Any) -> list[str]:
        run = mixseek.judge(rows, protocol="pairwise", judges=shorter, progress=False, **options)
        return [one.sample.id for one in run.judgments()]

    drawn = ids(pairs=2, seed=1)

    assert len(drawn) == 12
    assert ids(pairs=2, seed=1) == drawn
    assert ids(pairs=2, seed=2) != drawn
    assert all("alpha" in name for name in ids(pairs="baseline:alpha"))
    run = mixseek.judge(rows, protocol="pairwise", judges=shorter, pairs="all", progress=False)
    # The shortest name wins: beta before alpha and gamma.
    winners = {(one.sample.target_model, one.sample.target_b): one.verdict for one in run.judgments()}
    assert all((verdict == "A") == (pair[0] == "beta") for pair, verdict in winners.items() if "beta" in pair)
    assert run.document()["pairs"]["judges"][0]["human_agreement"]["pairs"] == 0
    assert any("no response" in notice and "mute" in notice for notice in run.notices)
    assert any("no pair" in notice and "q9" in notice for notice in run.notices)


def test_a_panel_of_pairs_is_what_more_than_half_say_else_split(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "pairs.jsonl", ROWS[:3])
    verdicts = {"x": "AAA", "y": "AAB", "z": "BAC"}
    for judge_name, words in verdicts.items():
        turned = {"A": "B", "B": "A", "C": "C"}
        rows = [
            {"id": str(number), "order": order, "reply": f"[[{word if order == 'ab' else turned[word]}]]"}
            for number, word in enumerate(words)
            for order in ("ab", "ba")
        ]
        write_jsonl(tmp_path / f"{judge_name}.jsonl", rows)
    named = [word for name in verdicts for word in ("--judge", f"replay:{name}.jsonl")]
    done = mixseek_here(
        *("judge", "pairs.jsonl", "--protocol", "pairwise", *named, "--workspace", "ws", "--run", "r", "--json"),
        cwd=tmp_path,
        env=KEYS,
    )
    document = json.loads(done.stdout)
    headline = document["headline"]

    assert headline["rule"] == "majority"
    # A A B, A A A, A B tie: two wins, and a pair that nobody has won.
    assert (headline["counts"]["valid"], headline["counts"]["split"]) == (2, 1)
    assert headline["mean_score"] == pytest.approx(2.5 / 3)
    assert headline["units"]["samples"] == 3
    assert headline["bounds"] == pytest.approx({"worst": 2 / 3, "best": 1.0})
    assert {one["target"] for one in headline["targets"]} == {"one", "two"}
    # Half a win is no tie: nobody said so.
    (between,) = document["pairs"]["targets"]
    assert [between[name] for name in ("wins", "ties", "losses", "without")] == [2, 0, 0, 1]


def test_the_board_of_a_panel_has_one_verdict_a_pair_and_people_beside_it(tmp_path: Path) -> None:
    """What judges repeat is no new evidence; labels of the workspace are the people's word."""
    # Of the third pair of each four nobody has a majority, of the fourth people say the opposite of the dataset.
    rows = [{**ROWS[0], "id": str(n), "question_id": f"q{n}", "question": f"{n}?"} for n in range(12)]
    for row in rows:
        row["human_preference"] = "A"
    write_jsonl(tmp_path / "pairs.jsonl", rows)
    for name, words in {"x": "AAAB", "y": "AABB", "z": "ABCA"}.items():
        turned = {"A": "B", "B": "A", "C": "C"}
        replies = [
            {"id": str(n), "order": order, "reply": f"[[{word if order == 'ab' else turned[word]}]]"}
            for n, word in enumerate(words * 3)
            for order in ("ab", "ba")
        ]
        write_jsonl(tmp_path / f"{name}.jsonl", replies)
    named = [word for name in "xyz" for word in ("--judge", f"replay:{name}.jsonl")]
    done = mixseek_here("judge", "pairs.jsonl", "--protocol", "pairwise", *named, "--run", "r", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    def board(*more: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(mixseek_here("leaderboard", "r", *more, "--json", cwd=tmp_path).stdout)
        return found

    panel, alone = board(), board("--rater", "replay:y.jsonl")
    write_jsonl(tmp_path / "said.jsonl", [{"id": str(n), "label": "B"} for n in range(3, 12, 4)])
    brought = mixseek_here("label", "import", "said.jsonl", "--rater", "mia", "--run", "r", cwd=tmp_path)
    assert brought.returncode == 0, brought.stderr
    labelled = board()
    shown = mixseek_here("leaderboard", "r", cwd=tmp_path).stdout
    unknown = mixseek_here("leaderboard", "r", "--rater", "w", cwd=tmp_path)
    assert "no run 'x'; there is r" in the_one_line(mixseek_here("leaderboard", "x", cwd=tmp_path))

    # A, A, split and B: of each four pairs, two for A, one for B, and half a win for each in the one that is split.
    assert panel["panel"] == {"rule": "majority", "split": 3}
    assert (panel["comparisons"], panel["questions"], panel["wins"]) == (12, 12, [[0, 7.5], [4.5, 0]])
    assert (alone["panel"], alone["comparisons"], alone["wins"]) == (None, 12, [[0, 6], [6, 0]])
    assert (panel["human"]["wins"], labelled["human"]["wins"]) == ([[0, 12], [0, 0]], [[0, 9], [3, 0]])
    assert labelled["agreement"]["same_order"] == 1
    assert {key: labelled[key] for key in ("wins", "judges", "standings")} == {
        key: panel[key] for key in ("wins", "judges", "standings")
    }
    assert "one verdict a pair: the majority of 3 judges" in shown
    assert "3 pairs on which the judges are split: half a win for each side" in shown
    assert unknown.returncode == 2
    assert "--rater 'w' has judged nothing" in the_one_line(unknown)


def test_a_pair_with_one_invalid_order_is_seen_by_the_gate_and_asked_for_again(tmp_path: Path) -> None:
    """Only the order that cannot be used is paid for again; what was valid stays as it is."""
    data = write_jsonl(tmp_path / "outputs.jsonl", outputs(10))
    with loopback(MockOptions(fault_rate=0.3, faults=(Fault.REFUSAL,))) as endpoint:
        first = judge(data, endpoint.spec, *PAIRWISE, "--max-reasks", "0", "--max-invalid", "0.1", cwd=tmp_path)
        before = {line["key"]: line["fields"]["orders"] for line in journal_lines(tmp_path, "outcome")}
        endpoint.server.options, asked = MockOptions(), endpoint.requests
        again = judge(data, endpoint.spec, *PAIRWISE, "--max-reasks", "0", "--retry-invalid", cwd=tmp_path)
        asked_again = endpoint.requests - asked
    after = {line["key"]: line["fields"]["orders"] for line in journal_lines(tmp_path, "outcome")}
    counts = counts_of(first)

    assert (counts["invalid"], counts["undecided"]) > (0, 2)
    share = (counts["invalid"] + counts["undecided"]) / 30
    assert first.returncode == 1
    assert f"gate --max-invalid not met: invalid or missing {share:.2%}" in first.stderr
    assert (again.returncode, counts_of(again)["valid"]) == (0, 30), again.stderr
    assert asked_again == 2 * counts["invalid"] + counts["undecided"]
    for name, orders in before.items():
        for order, told in orders.items():
            assert told["status"] == "invalid" or told == after[name][order]
