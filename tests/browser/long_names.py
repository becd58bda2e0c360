"""A run and a competition in which everything has a long name, and whose texts are hard to set."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.flows.running import mixseek_here, write_jsonl

RUN, RACE = "checkpoint_step_12000_lr3e-5_seed42-weekly-regression-2026-11-19", "everybody-explains-the-sea"
RATER = "taro.yamada.of.the.evaluation.group@research.example.org"
TARGETS = (
    "anthropic/claude-opus-4.5-20251101-thinking-32k",
    "deepseek-ai_DeepSeek-V3.2-Speciale_reasoner",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
    "日本語大規模言語モデル-第三版-指示調整済み",
)
TASKS = ("formal_fallacies_and_syllogisms_with_negation", "数学文章題", "tracking_shuffled_objects_seven_objects")
TEXTS = (
    "潮の満ち引きは、月と太陽の引力が海水を引き寄せることによって生じます。" * 8,
    "潮汐是海水在月球和太阳引潮力作用下所产生的周期性运动。" * 8,
    r"Let $f(x) = \frac{x^2 - 1}{x - 1}$: $$\sum_{k=1}^{\infty} \frac{(-1)^{k+1}}{k^2} = \frac{\pi^2}{12}$$",
    "```python\ndef tide(hours, a_parameter_that_has_a_name_which_goes_on_and_on=3):\n    return hours\n```",
    "https://example.org/" + "a-path-without-a-space/" * 9,
)
ROUNDS, POINTS = 9, 40


def rows() -> Iterator[dict[str, Any]]:
    """Two questions a task; every third answer is wrong."""
    for number in range(6):
        for place, target in enumerate(TARGETS):
            answer = number + (9 if (number + place) % 3 == 0 else 1)
            yield {
                "id": f"{TASKS[number % 3]}/{number:04}/{target}",
                "question_id": f"{TASKS[number % 3]}-{number}",
                "question": f"What is {number} + 1? {number} に 1 を足すといくつですか。",
                "response": f"{TEXTS[(number + place) % len(TEXTS)]}\n\nSo the answer is {answer}.",
                "ground_truth": str(number + 1),
                "target_model": target,
                "task_name": TASKS[number % 3],
            }


def replies() -> Iterator[dict[str, Any]]:
    """Of teams, of the metric and of the judge of progress, who lets all of them play to the end."""
    for place, _ in enumerate(TARGETS):
        for number in range(1, ROUNDS + 1):
            score = POINTS + 5 * number - 3 * place
            metric = {
                "criteria": {"words": {"reason": "Plain.", "score": score}},
                "comment": "Go on.",
                "total_score": score,
            }
            progress = {"should_continue": True, "reasoning": "Scores rise.", "confidence_score": 0.8}
            name = f"team-{place}/{number}"
            yield {"id": name, "reply": TEXTS[place]}
            yield {"id": f"{name}/plainness", "reply": json.dumps(metric)}
            yield {"id": f"{name}/judgment", "reply": json.dumps(progress)}


def race() -> str:
    judge = 'judge = "replay:race.jsonl"\n'
    teams = "".join(
        f'[[teams]]\nid = "team-{place}"\nname = "{name}"\nmodel = "replay:race.jsonl"\n'
        for place, name in enumerate(TARGETS)
    )
    metric = '[[evaluator.metrics]]\ntype = "LLMPlain"\nname = "plainness"\nweight = 1.0\n'
    options = (
        'options.instruction = "You judge words."\noptions.criteria.words = { points = 100, text = "Plain words." }\n'
    )
    rounds = f"[rounds]\nmin = {ROUNDS}\nmax = {ROUNDS}\n"
    return f'task = "Why is the sea salty?"\n{teams}[evaluator]\n{judge}{metric}{options}[judgment]\n{judge}{rounds}'


def make_long_names(root: Path) -> dict[str, str]:
    """What addresses of its pages are filled with."""
    samples = list(rows())
    write_jsonl(root / "every-task-with-negation-and-translations.jsonl", samples)
    write_jsonl(root / "race.jsonl", list(replies()))
    (root / "race.toml").write_text(race(), encoding="utf-8")
    run_here(root, "judge", "every-task-with-negation-and-translations.jsonl", "--judge", "rules", "--run", RUN)
    run_here(root, "compete", "race.toml", "--execution", RACE)
    run_here(root, "label", "sample", RUN, "--n", "12", "--to", "sheet.csv", "--seed", "1")
    with (root / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        drawn = [row["row"] for row in csv.DictReader(file)]
    labels = "".join(f"{row},{('correct', 'incorrect')[place % 2]}\n" for place, row in enumerate(drawn))
    (root / "labels.csv").write_text(f"row,label\n{labels}", encoding="utf-8")
    run_here(root, "label", "import", "labels.csv", "--rater", RATER)
    names = {"first": samples[0]["id"], "target": TARGETS[0], "other": TARGETS[1], "rater": RATER}
    return {"long": RUN, "race": RACE} | {name: quote(value, safe="") for name, value in names.items()}


def run_here(root: Path, *words: str) -> None:
    done = mixseek_here(*words, "--workspace", "ws", cwd=root)
    assert done.returncode == 0, done.stderr
