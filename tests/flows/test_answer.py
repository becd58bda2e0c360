"""`mixseek answer` from the command line: what it asks, what it refuses, and what becomes of every end of an answer."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.flows.answer_material import (
    answer,
    rows_of,
    run_of,
    succeed,
    write_targets,
)
from tests.flows.live import KEYS
from tests.flows.loopback import Hand
from tests.flows.running import mixseek_here, the_one_line, write_jsonl
from tests.flows.scripted_targets import Script, last_words, scripted

QUESTIONS = [
    {"id": "one", "question": "Who walks first?", "ground_truth": "the ant", "topic": "walks"},
    {"id": "two", "question": "Who sings last?", "ground_truth": "the wren", "topic": "songs"},
]


@pytest.fixture(scope="module")
def target() -> Iterator[tuple[Script, Hand]]:
    """One server for all tests of this file; a test takes what was asked before it looks."""
    with scripted() as (script, hand):
        yield script, hand


def spec(hand: Hand, model: str = "aster") -> str:
    return f"openai:{model}@{hand.base_url}"


def refuse(*words: str | Path, cwd: Path, run: str = "spring") -> str:
    """The only line of a command that is refused as it was given."""
    done = answer(*words, cwd=cwd, run=run)
    assert (done.returncode, done.stdout) == (2, ""), done
    return the_one_line(done)


def judge_answers(cwd: Path, *words: str, run: str = "spring") -> dict[str, Any]:
    done = mixseek_here(
        *("judge", f"answers:{run}", "--workspace", "ws", "--run", "judged", "--json", "--judge"),
        *(words or ("rules",)),
        cwd=cwd,
        env=KEYS,
    )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_run_grows_by_what_is_new_and_asks_for_nothing_else(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """One more target, variant, repeat or question; what was asked for once stays, whatever a later command says."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    targets = write_targets(tmp_path, hand.base_url, {"aster": {"seed": 7}, "birch": {"seed": None}})
    for name in "AB":
        (tmp_path / f"{name}.md").write_text(f"{name}: {{{{ question }}}}")
    first, second = targets[:2], targets[2:]
    a, b = ("--variant", "A=A.md"), ("--variant", "B=B.md")
    script.taken()

    def asked(*words: str) -> list[str]:
        succeed(data, *words, cwd=tmp_path)
        return [f"{body['model']} {body['messages'][-1]['content'][:5]} {body.get('seed')}" for body in script.taken()]

    assert asked(*first, *a, "--limit", "1") == ["model-aster A: Wh 7"]
    assert asked(*first, *a) == ["model-aster A: Wh 7"]
    assert asked(*first, *second, *a) == ["model-birch A: Wh None"] * 2
    assert asked(*first, *b) == ["model-aster B: Wh 7"] * 2
    assert sorted(asked(*first, *a, "--repeats", "3")) == [f"model-aster A: Wh {seed}" for seed in (8, 8, 9, 9)]
    assert asked(*first, *a) == asked(*first, *b, "--limit", "1") == []
    # In another run the cache knows it: of a file with one more question only that is asked.
    write_jsonl(data, [*QUESTIONS, {"id": "three", "question": "Why?"}])
    assert "were started with other questions" in refuse(data, *first, *a, cwd=tmp_path)
    assert succeed(data, *first, *a, cwd=tmp_path, run="summer")["planned"] == 3
    assert last_words(script.taken()) == ["A: Why?"]
    assert [(row["id"], row["seed"]) for row in rows_of(tmp_path) if row["question_id"] == "one"] == [
        ("one/model-aster (aster)/A/1", 7),
        ("one/model-aster (aster)/A/2", 8),
        ("one/model-aster (aster)/A/3", 9),
        ("one/model-birch (birch)/A/1", None),
        ("one/model-aster (aster)/B/1", 7),
    ]


def test_a_run_is_not_continued_with_something_else(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """One line says what differs; nobody is asked, and the answers stay as they are."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    words = write_targets(tmp_path, hand.base_url, {"aster": {"temperature": 0.5}})
    prompt = tmp_path / "A.md"
    prompt.write_text("{{ question }}")
    words += ["--variant", "A=A.md"]
    succeed(data, *words, cwd=tmp_path)
    journal = run_of(tmp_path).journal.read_bytes()
    script.taken()
    ending = "; choose a new name with --run, or leave --run out to get one"

    mapped = refuse(data, *words, "--map", "question=topic", cwd=tmp_path)
    prompt.write_text("{{ question }}!")
    reworded = refuse(data, *words, cwd=tmp_path)
    prompt.write_text("{{ question }}")
    write_targets(tmp_path, hand.base_url, {"aster": {"temperature": 0.6}})
    hotter = refuse(data, *words, cwd=tmp_path)
    (tmp_path / "mixseek.toml").unlink()
    # Under the name that the table had given it, in another place.
    succeed(data, "--target", spec(hand, "one"), "--variant", "A=A.md", cwd=tmp_path, run="other")
    there = spec(hand, "one").replace("127.0.0.1", "localhost")
    same_name = refuse(data, "--target", there, "--variant", "A=A.md", cwd=tmp_path, run="other")

    assert mapped == f"mixseek: answers spring: were started with another column mapping{ending}"
    assert reworded == f"mixseek: answers spring: were started with another text of variant A{ending}"
    assert hotter == f"mixseek: answers spring: were started with other settings of target aster{ending}"
    assert same_name.startswith(f"mixseek: targets {spec(hand, 'one')} and {there} would both be called 'one' in the")
    assert run_of(tmp_path).journal.read_bytes() == journal
    assert len(script.taken()) == len(QUESTIONS)


def test_what_a_budget_leaves_unasked_is_a_row_and_a_hole_and_comes_later(
    target: tuple[Script, Hand], tmp_path: Path
) -> None:
    """Of ten questions three and then two are asked, at two cents; the others are INCOMPLETE_COVERAGE, never wrong."""
    script, hand = target
    data = write_jsonl(
        tmp_path / "q.jsonl", ({"id": f"{n}", "question": f"Say {n}!", "ground_truth": f"Say {n}!"} for n in range(10))
    )
    words = write_targets(tmp_path, hand.base_url, {"aster": {"price_input": 1_000.0, "price_output": 0.0}})
    script.taken()

    by_calls = answer(data, *words, "--max-calls", "3", "--concurrency", "1", cwd=tmp_path)
    left = Counter(row["response_error"] for row in rows_of(tmp_path))
    judged = judge_answers(tmp_path)
    by_cost = answer(data, *words, "--max-cost", "0.05", "--concurrency", "1", cwd=tmp_path)
    asked = len(script.taken())
    complete = succeed(data, *words, cwd=tmp_path)

    assert [(done.returncode, json.loads(done.stdout)["state"]) for done in (by_calls, by_cost)] == [
        (4, "incomplete"),
        (4, "incomplete"),
    ]
    assert "stopped: --max-calls 3 is reached" in by_calls.stderr
    assert "stopped: --max-cost 0.05 is reached (0.0400 USD" in by_cost.stderr
    assert left == {None: 3, "not answered yet: the run stopped before; the same `mixseek answer` command goes on": 7}
    assert (judged["counts"]["valid"] + judged["counts"]["undecided"], judged["counts"]["invalid"]) == (3, 7)
    assert asked == 3 + 2
    assert (complete["finished"], complete["open"], len(script.taken())) == (10, 0, 10 - asked)
    assert [row["id"].split("/")[0] for row in rows_of(tmp_path)] == [str(n) for n in range(10)]


def test_answers_that_somebody_changed_are_not_judged(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """Whoever reads them says so in one line: to judge, to show, to export, to go on."""
    _, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    succeed(data, "--target", spec(hand), cwd=tmp_path)
    journal = run_of(tmp_path).journal
    journal.write_bytes(journal.read_bytes().replace(b"You ask: Who sings", b"You ask: Who hides"))

    for words in (
        ("judge", "answers:spring", "--judge", "rules"),
        ("show", "answers:spring", "one"),
        ("export", "answers:spring", "--to", "rows.jsonl"),
        ("answer", str(data), "--target", spec(hand), "--run", "spring"),
    ):
        done = mixseek_here(*words, "--workspace", "ws", cwd=tmp_path, env=KEYS)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "changed since it was written" in the_one_line(done)
