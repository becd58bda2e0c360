"""`mixseek cascade plan`: from runs with labels, or a table of ratings, to `cascade.toml` and its certificate."""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.cases import each
from tests.flows.document_material import sums
from tests.flows.label_material import fill
from tests.flows.live import KEYS
from tests.flows.loopback import answering, completion
from tests.flows.running import mixseek_here, the_one_line, write_jsonl
from tests.once import made_once

from mixseek.cascades.file import read_cascade
from mixseek.storage.journal.manifest import read_manifest

ROWS = 300
# Each errs by itself: where all three agree they are hardly ever wrong, and one of them alone is too often.
SMALL, LARGE = {"ada": 0.12, "bob": 0.12, "eve": 0.12}, {"ivo": 0.01}


def plan(place: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = mixseek_here("cascade", "plan", *words, "-w", "ws", "--json", "-q", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, document


def refusal(place: Path, *words: str) -> str:
    done = mixseek_here("cascade", "plan", *words, "-w", "ws", "-q", cwd=place)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    return the_one_line(done)


def ok(place: Path, *words: str) -> None:
    done = mixseek_here(*words, "-w", "ws", cwd=place)
    assert done.returncode == 0, done.stderr


def riddles(count: int) -> list[dict[str, Any]]:
    """Answers that no rule can compare; two of three are right."""
    return [
        {
            "id": f"riddle-{number}",
            "question": f"What has {number} legs and sleeps?",
            "response": f"It might be the {WORDS[number % 7]} of the {WORDS[number % 5]} in house {number}.",
            "ground_truth": f"whoever lives at number {number}, asleep",
        }
        for number in range(count)
    ]


WORDS = ("table", "cat", "old lamp", "horse", "stove", "king", "spider")


def truth(row: Mapping[str, str]) -> str:
    """What people know of a row, by its number."""
    number = int(row["id"].rpartition("-")[2])
    return "correct" if number % 3 else "incorrect"


def replies(place: Path, judge: str, mistakes: float, rows: list[dict[str, Any]]) -> str:
    """A file of recorded replies, of which that share is wrong; the judge that replays it."""
    draw = Random(judge)
    recorded = []
    for row in rows:
        is_correct = (truth(row) == "correct") ^ (draw.random() < mistakes)
        reply = {
            "id": 1,
            "is_correct": is_correct,
            "extracted_answer": row["response"].removeprefix("It might be ").rstrip("."),
            "reasoning_score": 5 if is_correct else 1,
            "error_type": "none" if is_correct else "wrong_logic",
            "comment": "As it stands.",
        }
        recorded.append({"id": row["id"], "judge_model": judge, "reply": json.dumps(reply)})
    write_jsonl(place / f"{judge}.jsonl", recorded)
    return f"replay:{judge}.jsonl"


def make_workspace(place: Path) -> None:
    """Four judges on the same texts in two runs, and a sheet of labels that were drawn from the first."""
    rows = riddles(ROWS)
    write_jsonl(place / "riddles.jsonl", rows)
    for run, judges in (("small", SMALL), ("large", LARGE)):
        specs = [replies(place, name, mistakes, rows) for name, mistakes in judges.items()]
        ok(place, "judge", "riddles.jsonl", *(f"--judge={spec}" for spec in specs), "--run", run, "-q")
    both = ("--judge", "rules", *(f"--judge={spec}" for spec in specs))
    ok(place, "judge", "riddles.jsonl", *both, "--cascade", "-q", "--run", "passed-on")
    ok(place, "judge", "riddles.jsonl", *both, "--run", "in-japanese", "-q", "--language", "ja")
    ok(place, "label", "sample", "small", "--n", "180", "--seed", "3", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", truth)
    ok(place, "label", "import", "filled.csv", "--rater", "mia")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "cascade", make_workspace)


TIERS = ("--tier", "small=ada+bob+eve", "--tier", "ivo", "--price", "small=0.05", "--price", "ivo=1")


def test_a_panel_decides_where_it_agrees_and_a_dear_judge_most_of_the_rest(judged: Path, tmp_path: Path) -> None:
    """What the document says is what the file says, and the file's judges are those of the runs."""
    code, document = plan(judged, "small", "large", *TIERS, "--out", str(tmp_path / "c.toml"))
    small, large = document["tiers"]
    cascade = read_cascade(tmp_path / "c.toml")
    manifests = [read_manifest(judged / "ws" / "runs" / name / "manifest.json") for name in ("small", "large")]
    judges = [judge for manifest in manifests for judge in manifest.judges]

    assert (code, document["state"]) == (0, "decides")
    assert (small["confidence"], small["threshold"], large["confidence"]) == ("panel", 1.0, "panel")
    assert large["beside"] == small["judges"]
    assert 0.55 < small["decided"] / ROWS < 0.8
    assert document["decided"] == small["decided"] + large["decided"] > 0.9 * ROWS
    assert document["cost_share"] == pytest.approx(0.05 + large["reached"] / ROWS)
    assert document["labels"] == {
        **document["labels"], "count": 180, "texts": ROWS, "questions": ROWS, "drawn": "random", "seed": None
    }  # fmt: skip
    assert document["certificate"]["thresholds"] == {"small": 1.0, "ivo": large["threshold"]}
    assert [tier.name for tier in cascade.routing] == ["small", "ivo"]
    assert {judge for tier in cascade.tiers for judge in tier.judges} == {judge.name for judge in judges}
    assert cascade.voided_by(judges, manifests[0].protocol) == ()
    assert cascade.certificate.protocol is not None
    assert [source.name for source in cascade.certificate.sources] == ["small", "large"]


def test_a_judge_that_is_too_often_wrong_is_refused_and_no_file_is_written(judged: Path, tmp_path: Path) -> None:
    """The answer says how far the best of them gets."""
    code, document = plan(judged, "small", "--tier", "ada", "--out", str(tmp_path / "c.toml"))
    words = mixseek_here("cascade", "plan", "small", "--tier", "ada", "-w", "ws", cwd=judged).stdout

    assert (code, document["state"], document["certificate"]) == (1, "none", None)
    assert 0.8 < document["best"] < 0.93
    assert (
        f"None of these judges can do it: asked was 95% with 90% confidence; the best reaches {document['best']:.1%}"
        in words
    )
    assert not (tmp_path / "c.toml").exists()


def test_good_labels_that_show_too_little_are_no_proof_of_the_opposite(tmp_path: Path) -> None:
    """198 of 200 agree: more than the 98 % that are asked for, and not enough to be sure of it."""
    rows = [f"{item},{rater},{int(rater == 'gold' or item > 1)}" for item in range(200) for rater in ("ada", "gold")]
    (tmp_path / "table.csv").write_text("\n".join(["item,judge,score", *rows, ""]), encoding="utf-8")

    code, document = plan(tmp_path, "table.csv", "--human", "gold", "--agree", "98%")
    words = mixseek_here("cascade", "plan", "table.csv", "--human", "gold", "--agree", "98%", cwd=tmp_path).stdout

    assert (code, document["state"], document["best"]) == (1, "none", 0.99)
    assert "Not shown by these labels: asked was 98% with 90% confidence; the best reaches 99.0%; about " in words
    assert document["labels_needed"] > 0


def test_too_few_labels_are_told_from_a_no(judged: Path, tmp_path: Path) -> None:
    """And how many more would do."""
    code, document = plan(judged, "large", "--label-count", "20", "--out", str(tmp_path / "c.toml"))

    assert (code, document["state"]) == (1, "too few labels")
    assert document["labels_needed"] == 45 - 20


def test_part_of_the_labels_is_drawn_by_lot(judged: Path, tmp_path: Path) -> None:
    """The same for one seed, and another for another; more than there are cannot be had."""
    first, again, other = (
        plan(
            judged, "small", "large", *TIERS, "--label-count", "90", "--seed", seed, "--out", str(tmp_path / "c.toml")
        )[1]
        for seed in ("1", "1", "2")
    )

    assert first == again
    assert first["labels"]["digest"] != other["labels"]["digest"]
    assert (first["labels"]["count"], first["labels"]["seed"]) == (90, 1)
    assert "--label-count 500: there are only 180 labels to draw from" in refusal(
        judged, "small", "--label-count", "500"
    )


def test_the_last_judge_may_have_the_last_word(judged: Path, tmp_path: Path) -> None:
    """It is asked about all that is left, and that costs."""
    tiers = ("--tier", "small=ada+bob+eve", "--tier", "ivo", "--price", "small=0.1", "--price", "ivo=1")
    few = ("--label-count", "70", "--out", str(tmp_path / "c.toml"))
    _, people = plan(judged, "small", "large", *tiers, *few)
    _, judge = plan(judged, "small", "large", *tiers, *few, "--with", "last")

    assert (people["last"], judge["last"]) == ("people", "ivo")
    assert [tier["threshold"] for tier in people["tiers"]] == [tier["threshold"] for tier in judge["tiers"]]
    assert judge["cost"] == pytest.approx(0.1 + judge["tiers"][1]["reached"] / ROWS)


@each(
    ("words", "message"),
    [
        (("small", "small"), "run small is named twice; name each run once"),
        (("passed-on",), "run passed-on: its later judges saw only what earlier ones left (--cascade)"),
        (("small", "in-japanese"), "runs small and in-japanese asked different things (protocol semantic"),
        (("nobody",), "nobody"),
        (("small", "--tier", "adda"), "--tier adda: no judge is called 'adda'; did you mean 'ada'?"),
        (("small", "--tier", "ada+ada"), "--tier ada+ada: names a judge twice; a judge has one vote"),
        (("small", "--tier", "ada", "--tier", "ada"), "--tier ada: is there twice"),
        (("small", "--price", "adda=1"), "--price adda: no judge or tier is called so; did you mean 'ada'?"),
        (("small", "--price", "ada"), "'ada' is no price; write the judge and a number"),
        (("small", "--price", "ada=nan"), "'ada=nan' is no price; write the judge and a number"),
        (("small", "--with", "god"), "'god' decides nothing; it is people, or last"),
        (("small", "--agree", "100%"), "--agree 1: give a share between 0 and 1, such as 95%"),
        (("small", "--human", "mia"), "--human, --item, --rater, --score and their like are for a table, not for runs"),
        (("small", "--labels", "random"), "--labels and --scale are for a table"),
        (("small", "--out", "sheet.csv"), "sheet.csv: is there and is no cascade file; give another name with --out"),
        (("filled.csv",), "filled.csv: whose ratings are labels? name the rater with --human"),
        (("filled.csv", "small", "--human", "a"), "filled.csv: a table stands alone; name one table, or runs"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_refused_in_one_line(judged: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refusal(judged, *words)


def test_labels_that_were_not_drawn_by_lot_are_refused_with_the_reason(tmp_path: Path) -> None:
    """None at all, ones of unknown drawing, ones from elsewhere; a stratum of the draw that has none."""
    rows = sums(60)
    write_jsonl(tmp_path / "sums.jsonl", rows)
    ok(tmp_path, "judge", "sums.jsonl", "--judge", "rules", "--run", "r", "-q")

    assert "no text of run r has a label; draw some (`mixseek label sample r --n 200" in refusal(tmp_path, "r")
    own = [{"id": row["id"], "label": truth(row)} for row in rows]
    for drawn, message in (
        ("unknown", "50 labels of run r: nobody knows how they were drawn"),
        ("elsewhere", "50 labels of run r: from another mix of cases, which says nothing of these"),
    ):
        write_jsonl(tmp_path / "own.jsonl", own[:50])
        ok(tmp_path, "label", "import", "own.jsonl", "--rater", "mia", "--run", "r", "--drawn", drawn, "--revise")
        assert message in refusal(tmp_path, "r")
    ok(tmp_path, "label", "import", "own.jsonl", "--rater", "mia", "--run", "r", "--drawn", "random", "--revise")
    assert plan(tmp_path, "r")[1]["labels"]["drawn"] == "random"


def test_a_stratum_without_a_label_is_named(tmp_path: Path) -> None:
    """What is known of the other strata says nothing of it; with labels in all of them, they are weighted."""
    write_jsonl(tmp_path / "sums.jsonl", sums(200))
    ok(tmp_path, "judge", "sums.jsonl", "--judge", "rules", "--run", "r", "-q")
    ok(tmp_path, "label", "sample", "r", "--n", "120", "--stratify", "verdict", "--to", "sheet.csv")
    fill(tmp_path / "sheet.csv", tmp_path / "half.csv", lambda row: truth(row) if truth(row) == "correct" else "")
    ok(tmp_path, "label", "import", "half.csv", "--rater", "mia")

    assert "run r: the stratum incorrect of the draw has no label yet" in refusal(tmp_path, "r")
    fill(tmp_path / "sheet.csv", tmp_path / "whole.csv", truth)
    ok(tmp_path, "label", "import", "whole.csv", "--rater", "mia")
    code, document = plan(tmp_path, "r", "--out", str(tmp_path / "c.toml"))
    assert (code, document["labels"]["drawn"]) == (0, "weighted")
    (tier,) = document["tiers"]
    assert tier["effective_labels"] < tier["labelled"] == 120


def test_live_judges_are_asked_in_the_order_of_what_a_text_cost(tmp_path: Path) -> None:
    """From the ledger of the run, both takes together; by the names that are asked, and as sure as takes agree."""
    write_jsonl(tmp_path / "riddles.jsonl", [{**row, "label": truth(row)} for row in riddles(60)])
    right = {"id": 1, "is_correct": True, "extracted_answer": "someone", "reasoning_score": 5, "error_type": "none"}
    reply = json.dumps({**right, "comment": "As it stands."})
    with answering(lambda asked: completion(reply, input_tokens=1_000, output_tokens=100)) as endpoint:
        tables = [
            f'[judges.{name}]\nmodel = "{name}"\nbase_url = "{endpoint.base_url}"\nprice_input = {price}\n'
            "price_output = 0\n"
            for name, price in (("dear", 10), ("cheap", 1))
        ]
        (tmp_path / "mixseek.toml").write_text("".join(tables), encoding="utf-8")
        both = ("--judge", "dear", "--judge", "cheap", "--repeats", "2")
        done = mixseek_here("judge", "riddles.jsonl", *both, "--run", "r", "-w", "ws", "-q", cwd=tmp_path, env=KEYS)
    assert done.returncode == 0, done.stderr

    code, document = plan(tmp_path, "r", "--agree", "50%")

    assert (code, document["labels"]["drawn"]) == (0, "all")
    assert [(tier["name"], tier["confidence"], tier["price"]) for tier in document["tiers"]] == [
        ("cheap", "repeats", pytest.approx(0.002)),
        ("dear", "repeats", pytest.approx(0.02)),
    ]
    assert document["cost_share"] == pytest.approx(0.1)


# Tables.


def ratings(count: int = 400) -> list[dict[str, Any]]:
    """A cheap judge and a dear one, and people who know."""
    draw = Random(4)
    wrong = {"cheap": 0.06, "cheap too": 0.06, "dear": 0.02, "people": 0.0}
    return [
        {"item": f"t{n}", "question_id": f"q{n // 4}", "judge": judge, "score": int((draw.random() < share) ^ (n % 2))}
        for n in range(count)
        for judge, share in wrong.items()
    ]


PAIR = ("--tier", "cheap+cheap too", "--tier", "dear", "--price", "cheap+cheap too=0.1", "--price", "dear=1")


def test_a_table_of_ratings_is_a_what_if(tmp_path: Path) -> None:
    """Its certificate knows no judge but by name, and says so to whoever would judge by it."""
    write_jsonl(tmp_path / "t.jsonl", ratings())
    code, document = plan(tmp_path, "t.jsonl", "--human", "people", *PAIR, "--label-count", "200", "--seed", "5")
    cascade = read_cascade(tmp_path / "cascade.toml")
    certificate = cascade.certificate

    assert code == 0
    assert [tier["name"] for tier in document["tiers"]] == ["cheap+cheap too", "dear"]
    assert document["tiers"][0]["threshold"] == 1.0
    assert document["labels"]["questions"] == 100
    assert certificate.protocol is None
    assert {judge.digest for judge in certificate.judges} == {None}


def test_a_table_whose_labels_are_not_said_to_be_random_is_refused(tmp_path: Path) -> None:
    """Some of the items are labelled, and nobody says how they were chosen."""
    rows = [row for row in ratings() if row["judge"] != "people" or int(row["item"][1:]) % 2]
    write_jsonl(tmp_path / "t.jsonl", rows)
    words = ("t.jsonl", "--human", "people", *PAIR)

    assert "200 labels of people on 400 items were drawn nobody says how (--labels random" in refusal(tmp_path, *words)
    assert "with chances that the table does not say" in refusal(tmp_path, *words, "--labels", "stratified")
    assert plan(tmp_path, *words, "--labels", "random")[1]["labels"]["count"] == 200


def test_scores_and_words_are_compared_by_the_rule_of_labels(tmp_path: Path) -> None:
    """A quarter of the scale apart is another score; another word is another one."""
    graded = [
        {"item": str(n), "judge": judge, "score": score}
        for n in range(100)
        for judge, score in (("near", 3.4), ("far", 4.0), ("people", 3.0))
    ]
    words = [
        {"item": str(n), "judge": judge, "score": score}
        for n in range(100)
        for judge, score in (("right", "good"), ("wrong", "bad"), ("people", "good"))
    ]
    for name, rows, scale in (("s.jsonl", graded, ("--scale", "1..5")), ("w.jsonl", words, ())):
        write_jsonl(tmp_path / name, rows)
        tiers = {}
        for judge in {str(row["judge"]) for row in rows} - {"people"}:
            _, document = plan(tmp_path, name, "--human", "people", "--tier", judge, *scale)
            tiers[judge] = document["tiers"][0]["agreement"]
        assert tiers == ({"near": 1.0, "far": 0.0} if name == "s.jsonl" else {"right": 1.0, "wrong": 0.0})


def test_repeats_of_a_rater_are_its_confidence(tmp_path: Path) -> None:
    """It is right where its three takes agree, and a coin where they do not."""
    draw = Random(6)
    rows = []
    for n in range(300):
        takes = [1, 1, 1] if n % 3 else draw.choice(([1, 0, 1], [0, 1, 0]))
        rows += [{"item": str(n), "judge": "moody", "score": score} for score in takes]
        rows.append({"item": str(n), "judge": "people", "score": 1})
    write_jsonl(tmp_path / "t.jsonl", rows)

    _, document = plan(tmp_path, "t.jsonl", "--human", "people")

    (tier,) = document["tiers"]
    assert (tier["confidence"], tier["threshold"], tier["decided"]) == ("repeats", 1.0, 200)
    assert read_cascade(tmp_path / "cascade.toml").tiers[0].repeats == 3


def test_a_column_says_how_sure_a_judge_is(tmp_path: Path) -> None:
    """By its usual name, with or without its kind; what is no share is refused with its place."""
    draw = Random(7)
    rows: list[dict[str, Any]] = []
    for n in range(400):
        sure = draw.random()
        score = int(draw.random() < 0.5 + sure / 2)
        rows.append({"item": str(n), "judge": "j", "score": score, "p": sure, "confidence_source": "logprobs"})
        rows.append({"item": str(n), "judge": "people", "score": 1})
    write_jsonl(tmp_path / "t.jsonl", rows)
    words = ("t.jsonl", "--human", "people", "--agree", "85%")

    _, without = plan(tmp_path, *words)
    _, document = plan(tmp_path, *words, "--sure", "p")
    _, written = plan(tmp_path, *words, "--sure", "p", "--where", "confidence_source IS NOT NULL OR true")

    assert (without["state"], without["tiers"][0]["confidence"]) == ("none", None)
    assert (document["state"], document["tiers"][0]["confidence"]) == ("decides", "logprobs")
    assert 0.4 < document["tiers"][0]["threshold"] < 0.9
    assert document["tiers"] == written["tiers"]
    assert "item '0': the confidence " in refusal(tmp_path, *words, "--sure", "p + 2")


DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not DATA.exists(), reason="the labelled votes of others lie beside the project, or not")
@each("seed", (1, 2, 3))
def test_recorded_votes_decide_what_was_to_be_reached(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Small judges that agree decide most of one set; of another set nobody can decide 95 %."""
    place = tmp_path_factory.mktemp("votes")
    panel = "small=Llama3-8B+Llama-7B+Mistral-7B+Contains"
    prices = ("--price", "small=0.05", "--price", "Llama3-70B=0.2", "--price", "GPT-4=1")
    lot = ("--label-count", "200", "--seed", str(seed))
    trivia = ("--human", "HumanJudgement", "--tier", panel, "--tier", "Llama3-70B", "--tier", "GPT-4", *prices)
    code, document = plan(place, str(DATA / "scores_triviaqa_umass.jsonl"), *trivia, *lot)
    humans = ("--human", "human-final", "--where", "judge NOT LIKE 'human-annotator%'")
    none, questions = plan(place, str(DATA / "scores_nq301.jsonl"), *humans, *lot)

    assert code == 0
    assert document["decided_share"] >= 0.6
    assert document["cost_share"] <= 0.55
    assert (none, questions["state"]) == (1, "none")
