"""`mixseek stats` on votes and juries, and `mixseek leaderboard` on tables: what they say, and what they refuse."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

STRENGTHS = {"ant": 1.0, "bee": 0.2, "cat": -0.2, "dog": -1.0}


def votes(seed: int = 1, questions: int = 40) -> Iterator[Mapping[str, Any]]:
    """Every two of four on every question in both orders, by a judge that loves what comes first, and by a person."""
    rng = Random(seed)
    pairs = [(a, b) for a in STRENGTHS for b in STRENGTHS if a < b]
    for question in range(questions):
        for a, b in pairs:
            row = {"item": f"{question}:{a}:{b}", "question_id": f"q{question}", "model_a": a, "model_b": b}
            lengths = {"len_a": rng.randint(50, 400), "len_b": rng.randint(50, 400)}
            is_a = rng.random() < 1 / (1 + math.exp(STRENGTHS[b] - STRENGTHS[a]))
            truth = "A>B" if is_a else "B>A"
            yield {**row, **lengths, "judge": "person", "order": "AB", "preference": truth, "gold": truth}
            for order, first in (("AB", "A>B"), ("BA", "B>A")):
                said = first if rng.random() < 0.3 else truth
                yield {**row, **lengths, "judge": "model", "order": order, "preference": said, "gold": truth}


def answer(command: str, path: Path, *options: str) -> dict[str, Any]:
    done = mixseek_here(command, path.name, *options, "--json", cwd=path.parent)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_judge_that_follows_the_order_is_told(tmp_path: Path) -> None:
    """With nothing decided but what is: first rows count, a missing vote and a tie are no contradiction."""
    rows = [row for row in votes() if row["judge"] == "model"]
    again = {**rows[0], "preference": "A>B" if rows[0]["preference"] == "B>A" else "B>A"}
    odd = [
        {**rows[0], "item": "odd", "order": order, "preference": said} for order, said in (("AB", None), ("BA", "A=B"))
    ]
    tied = [
        {**rows[0], "item": "tied", "order": order, "preference": said} for order, said in (("AB", "tie"), ("BA", "A"))
    ]
    path = write_jsonl(tmp_path / "v.jsonl", [*rows, again, *odd, *tied])
    (judge,) = answer("stats", path, "--votes", "--gold", "gold")["votes"]
    both = judge["both_orders"]

    assert (both["pairs"], both["with_null"], both["with_tie"], both["decisive"]) == (242, 1, 1, 240)
    assert both["second_both"] == 0
    assert both["position_bias"] == both["first_both"] / 240 > 0.1
    assert both["position_bias_interval"]["low"] > 0.05
    assert both["sign_test_p"] < 1e-6
    assert both["consistency"]["over_questions"]["low"] < both["consistency"]["value"] == both["consistent"] / 240
    assert judge["all_votes"]["votes"] == 482
    assert judge["all_votes"]["by_order"]["BA"]["tie"] == 1
    assert judge["all_votes"]["first_shown"]["value"] > 0.55

    shown = mixseek_here("stats", path, "--votes", "--gold", "gold", cwd=tmp_path)
    assert "Pairs shown in both orders" in shown.stdout
    assert "model    242     1     1" in shown.stdout


def test_a_board_of_votes_and_of_people_beside_it(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "v.jsonl", votes())
    options = ("--human", "person", "--length", "len_a / len_b")
    board = answer("leaderboard", path, *options)

    assert (board["state"], board["comparisons"], board["questions"]) == ("estimated", 240, 40)
    assert [one["system"] for one in board["standings"]][::3] == ["ant", "dog"]
    assert [one["strength"] for one in board["human"]["standings"]] != [one["strength"] for one in board["standings"]]
    assert board["agreement"]["pairs"] == 6
    assert board["agreement"]["same_order"] >= 4
    assert board["controlled"]["state"] == "estimated"
    assert abs(board["controlled"]["length"]["slope"]) < 3 * board["controlled"]["length"]["se"]
    for one in board["standings"]:
        assert one["interval"]["low"] < one["strength"] < one["interval"]["high"]
        assert one["best_rank"] <= one["rank"] <= one["worst_rank"]
    place = {name: number for number, name in enumerate(board["systems"])}
    ant, dog = place["ant"], place["dog"]
    (rate, interval), mirror = (board[key][ant][dog] for key in ("win_rates", "win_rate_intervals")), board["win_rates"]
    assert rate == board["wins"][ant][dog] / (board["wins"][ant][dog] + board["wins"][dog][ant])
    assert interval["low"] < rate < interval["high"]
    assert mirror[dog][ant] == pytest.approx(1 - rate)
    assert mirror[ant][ant] is board["win_rate_intervals"][ant][ant] is None
    shown = mixseek_here("leaderboard", path, *options, "--to", "board.html", cwd=tmp_path)
    ends = f"{interval['low'] * 100:.1f}–{interval['high'] * 100:.1f}%"
    for door in (shown.stdout, (tmp_path / "board.html").read_text(encoding="utf-8")):
        assert ends in door.partition("Who beat whom")[2]
    for title in ("Leader board", "Who beat whom", "same order as by people", "same length", "people"):
        assert title in shown.stdout


def test_scores_are_compared_question_by_question(tmp_path: Path) -> None:
    """A system with few questions is left out and named; those that never met are refused with their names."""
    rows = [
        {"item": f"{q}{who}", "question": q, "judge": "j", "system": who, "score": score}
        for q, scores in enumerate([(3, 2, 1), (3, 3, 1), (1, 2, 2), (2, 1, 3), (2, 2, 1), (1, None, 5)])
        for who, score in zip(("x", "y", "z"), scores, strict=True)
        if score is not None and (who != "z" or q < 3)
    ]
    path = write_jsonl(tmp_path / "s.jsonl", rows)
    board = answer("leaderboard", path, "--min-questions", "4")

    assert board["systems"] == ["x", "y"]
    assert board["wins"] == [[0, 3], [2, 0]]
    assert board["notes"] == ["left out, with fewer than 4 questions: z"]

    alone = [{**row, "question": f"{row['question']}{row['system'] == 'z'}"} for row in rows]
    twins = [{**row, "item": f"twin {row['item']}", "system": "w"} for row in alone if row["system"] == "z"]
    apart = answer("leaderboard", write_jsonl(tmp_path / "a.jsonl", [*alone, *twins]))
    assert (apart["state"], apart["parts"]) == ("parts that never met", [["w", "z"], ["x", "y"]])
    assert [one["strength"] for one in apart["standings"]] == [None] * 4
    shown = mixseek_here("leaderboard", "a.jsonl", cwd=tmp_path)
    assert "these were never compared with each other: w, z; x, y" in shown.stdout


def test_a_jury_is_held_against_its_best_judge(tmp_path: Path) -> None:
    rng = Random(8)
    rows: list[dict[str, Any]] = []
    for item in range(80):
        truth = rng.choice(("good", "bad"))
        for judge, skill in (("a", 0.95), ("b", 0.9), ("c", 0.6), ("d", 0.55)):
            said = truth if rng.random() < skill else ("bad" if truth == "good" else "good")
            rows.append({"item": item, "judge": judge, "verdict": said, "truth": truth})
    jury = answer("stats", write_jsonl(tmp_path / "j.jsonl", rows), "--jury", "--gold", "truth")["jury"]

    assert (jury["items"], jury["votes"], jury["labels"]) == (80, 320, ["bad", "good"])
    assert jury["best_single"]["judge"] in ("a", "b")
    assert jury["dawid_skene"]["accuracy"] > jury["majority"]["accuracy"]
    assert jury["majority"]["ties"] > 0
    assert "err independently" in jury["dawid_skene"]["assumption"]

    # The same votes on pairs, with the two systems the other way round in some rows, truth included.
    def pair(one: Mapping[str, Any], *, is_turned: bool) -> dict[str, Any]:
        words = {"good": "model_b", "bad": "model_a"} if is_turned else {"good": "[[A]]", "bad": "B>A"}
        names = ("finch", "owl") if is_turned else ("owl", "finch")
        row = {"question_id": one["item"], "judge": one["judge"], "model_a": names[0], "model_b": names[1]}
        return {**row, "winner": words[one["verdict"]], "truth": words[one["truth"]]}

    pairs = [pair(one, is_turned=one["judge"] != "a" and rng.random() < 0.5) for one in rows]
    path = write_jsonl(tmp_path / "p.jsonl", pairs)
    same = answer("stats", path, "--jury", "--gold", "truth")["jury"]
    assert set(same["labels"]) == {"A>B", "B>A"}
    for part in ("majority", "best_single", "dawid_skene"):
        assert same[part]["accuracy"] == pytest.approx(jury[part]["accuracy"])
    assert answer("stats", path)["agreement"] == answer("stats", tmp_path / "j.jsonl")["agreement"]


def test_length_moves_a_judge_or_does_not(tmp_path: Path) -> None:
    """One adds a point for each e-fold of length, another none; both against a third."""
    rng = Random(9)
    rows = []
    for item in range(120):
        quality, size = rng.gauss(5, 1), math.exp(rng.gauss(6, 0.7))
        for judge, slope in (("fond", 1.0), ("fair", 0.0), ("third", 0.0)):
            score = quality + slope * math.log(size) + rng.gauss(0, 0.3)
            rows.append({"item": item, "judge": judge, "score": score, "chars": 0 if item == 5 else size})
    path = write_jsonl(tmp_path / "l.jsonl", rows)
    options = ("--length", "chars", "--reference", "third")
    lines = {one["judge"]: one for one in answer("stats", path, *options)["length"]}

    assert set(lines) == {"fond", "fair"}
    assert lines["fond"]["n"] == 119
    assert lines["fond"]["coefficients"]["length"]["value"] == pytest.approx(1, abs=0.15)
    assert lines["fair"]["coefficients"]["length"]["interval"]["low"] < 0
    assert "not clear" in mixseek_here("stats", path, *options, cwd=tmp_path).stdout


REFUSED = {
    "no order": (("stats", "--votes", "--shown", "NULL"), "which response was shown first"),
    "no vote": (("stats", "--votes", "--score", "model_a"), "is no vote; write A>B, B>A or A=B"),
    "coded": (("stats", "--votes", "--score", "CASE preference WHEN 'A>B' THEN 1 ELSE 0 END"), "none here is below 0"),
    "two truths": (("stats", "--votes", "--gold", "gold", "--human", "person"), "name one"),
    "gold of another kind": (("stats", "--gold", "len_a"), "a number and a word cannot be compared"),
    "length of words": (("stats", "--length", "len_a"), "of votes, say --votes"),
    "one judge": (("stats", "--jury", "--human", "person"), "a jury has several"),
    "nobody compared": (("leaderboard", "--system-a", "NULL"), "nothing says who is compared"),
    "several pairs": (("leaderboard", "--item", "question_id"), "'q0' stands for ant and bee, and for cat and dog"),
    "odd order": (("leaderboard", "--shown", "CASE item WHEN '0:ant:bee' THEN 'swap' ELSE 'AB' END"), "is 'swap'"),
    "words": (("leaderboard", "--system-a", "NULL", "--system", "model_a"), "no more or less"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_said_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    write_jsonl(tmp_path / "v.jsonl", votes(questions=2))
    (command, *options), words = REFUSED[case]
    done = mixseek_here(command, "v.jsonl", *options, cwd=tmp_path)

    assert done.returncode == 2
    assert words in the_one_line(done)


TURNED = {"A>B": "B>A", "B>A": "A>B"}


def test_the_same_votes_in_the_shapes_that_people_have_give_the_same_board(tmp_path: Path) -> None:
    """Words of arenas, rows without an id, and the two systems the other way round where B was shown first."""
    rows = [row for row in votes(questions=12) if row["judge"] == "model"]
    plain = answer("leaderboard", write_jsonl(tmp_path / "plain.jsonl", rows))
    words = {"A>B": "model_a", "B>A": "model_b"}
    arena = [{**{key: row[key] for key in ("question_id", "model_a", "model_b", "judge")}} for row in rows]
    for told, row in zip(arena, rows, strict=True):
        told["winner"] = words[row["preference"]]
        if row["order"] == "BA":
            told |= {"model_a": row["model_b"], "model_b": row["model_a"], "winner": words[TURNED[row["preference"]]]}
    board = answer("leaderboard", write_jsonl(tmp_path / "arena.jsonl", arena))

    assert {**board, "source": ""} == {**plain, "source": ""}
    assert board["comparisons"] == len(rows) / 2
    bad = [{**row, "winner": "tie (bothbad)"} for row in arena]
    (one,) = {one["win_rate"] for one in answer("leaderboard", write_jsonl(tmp_path / "b.jsonl", bad))["standings"]}
    assert one == 0.5

    turned = [{**row, "order": "AB"} for row in rows]
    for row in turned[1::2]:
        row |= {"model_a": row["model_b"], "model_b": row["model_a"], "preference": TURNED[row["preference"]]}
    (first,) = answer("stats", write_jsonl(tmp_path / "turned.jsonl", turned), "--votes")["votes"]
    assert first == answer("stats", tmp_path / "plain.jsonl", "--votes")["votes"][0]


def test_what_no_comparison_is_made_of_is_said(tmp_path: Path) -> None:
    """And a judge called `people` in somebody's table is a judge."""
    rows = [{**row, "judge": "people"} for row in votes(questions=6) if row["judge"] == "model"]
    alone = {**rows[0], "item": "alone", "model_b": rows[0]["model_a"]}
    unnamed = {**rows[0], "item": "unnamed", "model_b": None}
    rare = {**rows[0], "item": "rare", "model_b": "rare"}
    path = write_jsonl(tmp_path / "v.jsonl", [*rows, rows[0], alone, unnamed, rare])
    board = answer("leaderboard", path, "--min-questions", "2")

    assert board["judges"] == ["people"]
    assert board["comparisons"] == 36
    assert board["notes"] == [
        "1 more of the same pair, judge and order: the first one counts",
        "1 left out: both responses are by the same system",
        "1 left out: nothing says who wrote both responses",
        "left out, with fewer than 2 questions: rare",
    ]
