"""Twenty runs of all protocols, and a few tables: what every command says of them is a contract.

Everything is written here and comes out the same each time: scores are drawn with a seed, replies are recorded ones.
"""

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.flows.cross_material import TEA_RUBRIC, WEIGHTS, cross_reply, outputs, recorded, rubric_reply
from tests.flows.label_material import fill
from tests.flows.running import mixseek_here, run_with, write_jsonl
from tests.once import made_once

WORKSPACE = "ws"
DEMO_WORKSPACE = "demo-workspace"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Replies:
    """What one judge is recorded to have replied, in a file of its own."""

    judge: str
    rows: list[Row]

    def write(self, place: Path, run: str) -> str:
        name = f"{run}-{self.judge}.jsonl"
        write_jsonl(place / name, self.rows)
        return f"replay:{name}"


def call(place: Path, *words: str) -> str:
    done = mixseek_here(*words, "-w", WORKSPACE, cwd=place)
    # 4: some replies are not there, as some of these runs are to have it.
    assert done.returncode in (0, 4), f"{words}: {done.stderr}"
    return done.stdout


def judge(place: Path, run: str, rows: Sequence[Row], judges: Iterable[Replies | str], *options: str) -> None:
    write_jsonl(place / f"{run}.jsonl", rows)
    specs = [judge if isinstance(judge, str) else judge.write(place, run) for judge in judges]
    named = itertools.chain.from_iterable(("--judge", spec) for spec in specs)
    document = call(place, "judge", f"{run}.jsonl", *named, "--run", run, "-q", "--json", *options)
    (place / f"{run}.judged.json").write_text(document, encoding="utf-8")


# Right and wrong.


def sums(count: int, **columns: Callable[[int], Any]) -> list[Row]:
    """Two of three right."""
    return [
        {
            "id": f"sum-{number}",
            "question": f"What is {number} and {number + 1}?",
            "response": f"The answer is {2 * number + (1 if number % 3 else 2)}.",
            "ground_truth": str(2 * number + 1),
            "task_name": ("small", "large")[number % 2],
            **{name: value(number) for name, value in columns.items()},
        }
        for number in range(count)
    ]


def of_targets(questions: int, targets: Sequence[str], **columns: Callable[[int], Any]) -> list[Row]:
    """Each target is right a little more often than the one before it."""
    return [
        {
            "id": f"{number}-{target}",
            "question_id": f"q{number}",
            "question": f"What is {number} and {number + 1}?",
            "response": f"The answer is {2 * number + (1 if (number * 7 + place * 3) % 5 > 2 - place else 2)}.",
            "ground_truth": str(2 * number + 1),
            "target_model": target,
            **{name: value(number) for name, value in columns.items()},
        }
        for number in range(questions)
        for place, target in enumerate(targets)
    ]


def semantic_replies(rows: Sequence[Row], judge: str, mistakes: float, broken: int = 0) -> Replies:
    """Errs in that share of rows; every `broken`-th reply is no judgment, and the one after it is not there."""
    draw = Random(judge)
    replies = []
    for place, row in enumerate(rows):
        value = row["response"].removeprefix("The answer is ").rstrip(".")
        is_correct = (value == row["ground_truth"]) ^ (draw.random() < mistakes)
        reply: Any = {
            "id": 1,
            "is_correct": is_correct,
            "extracted_answer": value,
            "reasoning_score": draw.choice((4, 5) if is_correct else (1, 2)),
            "error_type": "none" if is_correct else "wrong_logic",
            "comment": "As it stands.",
        }
        if broken and place % broken == 0:
            reply = '{"id": 1, "is_correct": tr'
        if not (broken and place % broken == 1):
            replies.append(recorded(row, judge, reply))
    return Replies(judge, replies)


# Scores on a scale.


def cross_replies(rows: Sequence[Row], judge: str, spread: int = 2, broken: int = 0) -> Replies:
    draw = Random(judge)
    replies = []
    for place, row in enumerate(rows):
        marks = [max(0, 2 - draw.randrange(spread)) for _ in range(4)]
        reply: Any = cross_reply(row, judge, (marks[0], marks[1], marks[2], marks[3]))
        if broken and place % broken == 0:
            reply["scores"]["overall_score"] += 5
        replies.append(recorded(row, judge, reply))
    return Replies(judge, replies)


def essays(count: int, targets: Sequence[str] = ("north",)) -> list[Row]:
    return [
        {
            "id": f"{number}-{target}",
            "question_id": f"essay-{number}",
            "task_name": "tea",
            "target_model": target,
            "question": "茶室について書いてください。",
            "response": f"湯気の音が四畳半に満ちる。{number}杯目の茶を{target}が点てた。",
        }
        for number in range(count)
        for target in targets
    ]


def rubric_replies(rows: Sequence[Row], judge: str, fails: int = 0) -> Replies:
    """Every `fails`-th is a critical fail."""
    draw = Random(judge)
    replies = []
    for place, row in enumerate(rows):
        logic, constraint, helpful = (round(weight * draw.uniform(0.4, 1.0)) for weight in WEIGHTS["creative"])
        changes: Row = {"confidence": draw.choice(("high", "medium"))}
        if fails and place % fails == 0:
            logic = constraint = helpful = 0
            changes |= {"critical_fail": True, "critical_fail_reason": "茶について書かれていない"}
        replies.append(recorded(row, judge, rubric_reply("tea", "creative", (logic, constraint, helpful), **changes)))
    return Replies(judge, replies)


def helpdesk_replies(rows: Sequence[Row], judge: str) -> Replies:
    draw = Random(judge)
    dimensions = {"accuracy": 15, "completeness": 6, "clarity": 4}
    replies = []
    for row in rows:
        marks = {name: draw.randint(1, 4) for name in dimensions}
        total = sum(weight * marks[name] for name, weight in dimensions.items())
        reply = {
            "scores": marks,
            "total": total,
            "harmful": False,
            "harmful_reason": None,
            "verdict": "good" if total >= 75 else "poor" if total <= 40 else "fair",
            "evidence": [{"dimension": name, "quote": "restart", "reason": "it says so"} for name in dimensions],
            "confidence": "high",
            "notes": "",
        }
        replies.append(recorded(row, judge, reply))
    return Replies(judge, replies)


# Two responses at a time.


def pair_rows(questions: int, targets: Sequence[str] = ("heron", "gull", "rook")) -> list[Row]:
    return [
        {
            "id": f"{number}-{first}-{second}",
            "question_id": f"q{number}",
            "question": f"Why does kettle {number} sing?",
            "target_a": first,
            "response_a": f"{first} says: steam, {number} times.",
            "target_b": second,
            "response_b": f"{second} says: metal, {number} times.",
            **({"human_preference": ("A", "B", "tie")[number % 3]} if number % 2 else {}),
        }
        for number in range(questions)
        for first, second in itertools.combinations(targets, 2)
    ]


def pair_replies(rows: Sequence[Row], judge: str, follows_order: float) -> Replies:
    draw = Random(judge)
    turned = {"A": "B", "B": "A", "C": "C"}
    replies = []
    for row in rows:
        word = draw.choice("AABC")
        other = turned[word] if draw.random() > follows_order else word
        replies += [
            {"id": row["id"], "order": order, "reply": f"[[{said}]]"} for order, said in (("AB", word), ("BA", other))
        ]
    return Replies(judge, replies)


# The runs, by name.


def _labelled(place: Path, run: str, *options: str, count: int) -> None:
    """People know better in every seventh case."""
    judge(place, run, sums(60, target_model=lambda number: ("north", "south")[number % 2]), ["rules"])
    call(place, "label", "sample", run, "--n", str(count), "--to", f"{run}.csv", "--seed", "5", *options)

    def say(row: Mapping[str, str]) -> str:
        number = int(row["id"].rpartition("-")[2])
        return "correct" if (number % 3 != 0) ^ (number % 7 == 0) else "incorrect"

    fill(place / f"{run}.csv", place / f"{run}-filled.csv", say)
    call(place, "label", "import", f"{run}-filled.csv", "--rater", "zoe")


def _sem_panel(place: Path) -> None:
    rows = of_targets(12, ("north", "south"))
    judges = [semantic_replies(rows, "ada", 0.1), semantic_replies(rows, "bea", 0.3), semantic_replies(rows, "cy", 0.2)]
    judge(place, "sem-panel", rows, judges)


def _sem_broken(place: Path) -> None:
    rows = sums(24)
    judge(place, "sem-broken", rows, [semantic_replies(rows, "dan", 0.1, 6), semantic_replies(rows, "eve", 0.2, 8)])


def _sem_cascade(place: Path) -> None:
    """Every fourth is left open by the rules."""
    rows = [{**row, "response": f"Perhaps {number}, perhaps {number + 1}."} if number % 4 == 0 else row
            for number, row in enumerate(sums(16))]  # fmt: skip
    judge(place, "sem-cascade", rows, ["rules", semantic_replies(rows, "fay", 0.5)], "--cascade")


def _cross_panel(place: Path) -> None:
    rows = outputs(("model-a", "model-b", "model-c"), questions=5)
    judge(place, "cross-panel", rows, [cross_replies(rows, name) for name in ("model-a", "model-b", "guest")], *CROSS)


def _cross_broken(place: Path) -> None:
    rows = outputs(("model-a", "model-b"), questions=6)
    judge(place, "cross-broken", rows, [cross_replies(rows, "guest", 3, broken=5)], *CROSS)


def _cross_few(place: Path) -> None:
    rows = outputs(("model-a", "model-b"), questions=1)
    judge(place, "cross-few", rows, [cross_replies(rows, "guest"), cross_replies(rows, "other", 3)], *CROSS)


def _rubric(place: Path, run: str, rows: Sequence[Row], judges: Iterable[Replies]) -> None:
    (place / "tea.md").write_text(TEA_RUBRIC, encoding="utf-8")
    judge(place, run, rows, judges, "--protocol", "rubric", "--rubric", "tea.md")


def _rubric_one(place: Path) -> None:
    rows = essays(9)
    _rubric(place, "rubric-one", rows, [rubric_replies(rows, "kiri")])


def _rubric_panel(place: Path) -> None:
    rows = essays(8, ("north", "south"))
    _rubric(place, "rubric-panel", rows, [rubric_replies(rows, "kiri", 5), rubric_replies(rows, "sumi", 4)])


def _rubric_alike(place: Path) -> None:
    """Judges that give one verdict and different scores."""
    rows = essays(3)
    _rubric(place, "rubric-alike", rows, [rubric_replies(rows, "kiri"), rubric_replies(rows, "sumi")])


def _pairs(place: Path, run: str, judges: Mapping[str, float]) -> None:
    rows = pair_rows(8)
    judge(place, run, rows, [pair_replies(rows, name, share) for name, share in judges.items()], *PAIRWISE)


def _helpdesk(place: Path) -> None:
    rows = [
        {"id": f"{number}-{target}", "question_id": f"q{number}", "question": f"It blinks {number} times.",
         "response": f"Please restart it {number} times, says {target}.", "target_model": target}
        for number in range(7)
        for target in ("north", "south")
    ]  # fmt: skip
    mixseek_here("protocol", "new", "own.toml", cwd=place)
    judges = [helpdesk_replies(rows, "ida"), helpdesk_replies(rows, "jo")]
    judge(place, "own-panel", rows, judges, "--protocol", "own.toml")


CROSS = ("--protocol", "cross")
PAIRWISE = ("--protocol", "pairwise")
RUNS: Mapping[str, Callable[[Path], None]] = {
    "sem-one": lambda place: judge(place, "sem-one", sums(1), ["rules"]),
    "sem-plain": lambda place: judge(place, "sem-plain", sums(20), ["rules"]),
    "sem-later": lambda place: judge(place, "sem-later", [
        {**row, "response": f"The answer is {row['ground_truth']}."} if number % 6 == 0 else row
        for number, row in enumerate(sums(20))], ["rules"]),
    "sem-targets": lambda place: judge(place, "sem-targets", of_targets(10, ("north", "south", "west")), ["rules"]),
    "sem-variants": lambda place: judge(
        place, "sem-variants", of_targets(8, ("A", "B"), prompt_variant=lambda number: "AB"[number % 2]), ["rules"]),
    "sem-panel": _sem_panel,
    "sem-broken": _sem_broken,
    "sem-cascade": _sem_cascade,
    "sem-random": lambda place: _labelled(place, "sem-random", count=30),
    "sem-stratified": lambda place: _labelled(place, "sem-stratified", "--stratify", "verdict", count=24),
    "cross-one": lambda place: judge(
        place, "cross-one", outputs(questions=3), [cross_replies(outputs(questions=3), "guest")], *CROSS),
    "cross-few": _cross_few,
    "cross-panel": _cross_panel,
    "cross-broken": _cross_broken,
    "rubric-one": _rubric_one,
    "rubric-alike": _rubric_alike,
    "rubric-panel": _rubric_panel,
    "pairs-one": lambda place: _pairs(place, "pairs-one", {"kim": 0.2}),
    "pairs-panel": lambda place: _pairs(place, "pairs-panel", {"kim": 0.2, "lou": 0.5, "max": 0.1}),
    "own-panel": _helpdesk,
}  # fmt: skip
# Two sides of one run, or two runs.
COMPARISONS: Mapping[str, tuple[str, ...]] = {
    "runs": ("sem-plain", "sem-later"),
    "targets": ("sem-targets", "--target", "north", "--target", "south"),
    "variants": ("cross-panel", "--variant", "A", "--variant", "B"),
    "graded targets": ("cross-panel", "--target", "model-a", "--target", "model-b"),
    "rubric targets": ("rubric-panel", "--target", "north", "--target", "south"),
    "panel targets": ("sem-panel", "--target", "north", "--target", "south"),
    "own targets": ("own-panel", "--target", "north", "--target", "south"),
}


def write_tables(place: Path) -> Mapping[str, tuple[str, ...]]:
    """Tables of ratings and votes, by what is asked of them."""
    draw = Random(11)
    ratings = [
        {"item": f"{number}", "question_id": f"q{number // 2}", "judge": judge, "score": score,
         "target_model": ("north", "south")[number % 2]}
        for number in range(40)
        for judge in ("ada", "bea", "people")
        if (score := draw.randint(1, 5)) and not (judge == "people" and number % 2)
    ]  # fmt: skip
    votes = [
        {"question_id": f"q{number}", "model_a": first, "model_b": second, "judge": judge,
         "score": draw.choice(("A>B", "B>A", "A=B")), "shown": ("AB", "BA")[number % 2]}
        for number in range(15)
        for first, second in itertools.combinations(("heron", "gull", "rook"), 2)
        for judge in ("ada", "bea", "people")
    ]  # fmt: skip
    write_jsonl(place / "ratings.jsonl", ratings)
    write_jsonl(place / "votes.jsonl", votes)
    return {
        "ratings": ("stats", "ratings.jsonl", "--scale", "1..5"),
        "ratings-human": ("stats", "ratings.jsonl", "--human", "people", "--labels", "random", "--scale", "1..5"),
        "ratings-compare": ("stats", "ratings.jsonl", "--compare", "north", "south"),
        "votes": ("stats", "votes.jsonl", "--votes", "--human", "people"),
        "votes-jury": ("stats", "votes.jsonl", "--jury", "--human", "people"),
        "votes-board": ("leaderboard", "votes.jsonl", "--human", "people"),
    }


def make_runs(place: Path) -> None:
    """All of them, in one workspace."""
    for make in RUNS.values():
        make(place)


def place_of_runs(factory: pytest.TempPathFactory) -> Path:
    """The runs, judged once for all who ask about them; whoever changes what is there copies it first."""
    return made_once(factory, "documents", make_runs)


def place_of_demo(factory: pytest.TempPathFactory) -> Path:
    """Where a newcomer ran the demo, and then once more as data: its runs in `DEMO_WORKSPACE`, and what it printed."""
    return made_once(factory, "demo", run_demo_twice)


def run_demo_twice(place: Path) -> None:
    done = run_with("demo", cwd=place)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-3000:]
    (place / "printed.txt").write_text(done.stdout, encoding="utf-8")
    # What it says of runs that are there is what it said at first.
    again = mixseek_here("demo", "--json", cwd=place)
    assert again.returncode == 0, again.stderr
    (place / "told.json").write_text(again.stdout, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


def ask(place: Path, *words: str, workspace: str = WORKSPACE) -> Printed:
    """A document about a workspace of that place."""
    done = mixseek_here(*words, "-w", workspace, "--json", cwd=place)
    return Printed(done.returncode, done.stdout, done.stderr)


def asked_once(factory: pytest.TempPathFactory, *words: str) -> Printed:
    """The same about the runs of `place_of_runs`, asked by whoever comes first."""

    def keep(directory: Path) -> None:
        printed = ask(place_of_runs(factory), *words)
        (directory / "printed.json").write_text(json.dumps(asdict(printed)), encoding="utf-8")

    directory = made_once(factory, f"asked-{'-'.join(words)}", keep)
    return Printed(**json.loads((directory / "printed.json").read_bytes()))


def first_sample(place: Path, run: str) -> str:
    with (place / f"{run}.jsonl").open(encoding="utf-8") as lines:
        sample: str = json.loads(next(lines))["id"]
    return sample


def differences(before: Any, now: Any, at: str = "") -> Iterator[str]:
    """Whatever stood there before and does not now; what is new is nobody's loss."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            if key not in now:
                yield f"{at}.{key} is gone"
            else:
                yield from differences(value, now[key], f"{at}.{key}")
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield f"{at}: {len(before)} before, {len(now)} now"
        for place, (value, other) in enumerate(zip(before, now, strict=False)):
            yield from differences(value, other, f"{at}[{place}]")
    elif isinstance(before, float | int) and isinstance(now, float | int):
        if not math.isclose(before, now, rel_tol=1e-8, abs_tol=1e-9):
            yield f"{at}: {before} before, {now} now"
    elif before != now:
        yield f"{at}: {before!r} before, {now!r} now"
