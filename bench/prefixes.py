"""How much of a prompt is its constant beginning, by protocol, over the rows of the data beside the project.

Endpoints take from a cache what a prompt has in common with one that they had before. The constant beginning is the one
that all prompts of a run have, or all with the same rubric; `with the question` is what each has in common with the one
before it, in the order in which a run asks: by rubric, then by question. Both are shares of a prompt's characters, in
the mean of all prompts, and of all characters together, where the long ones weigh more.
Without the data (`../shared/data`) there is nothing to do.
Run: python -m bench.prefixes (also part of `make bench`)
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol
from mixseek.templating import fence_nonces
from mixseek.text.phrases import plural

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ROWS = 2_000
# What issues ask for, as shares of characters.
AIMS = {"semantic": 0.70, "cross": 0.80}


@dataclass(frozen=True, slots=True)
class Shares:
    """What prompts of one file begin with: of each prompt, in the order of asking."""

    file: str
    constant: tuple[float, ...]
    with_question: tuple[float, ...]
    # The lengths of the prompts, and of their constant beginnings.
    characters: int
    constant_characters: int


def main() -> None:
    """Print the shares of each protocol, file by file."""
    if not DATA.is_dir():
        print("constant prefixes: the data is not beside the project")
        return
    for name, paths in (
        ("semantic", sorted(DATA.glob("matching_*.jsonl"))),
        ("cross", _with_responses()),
        ("rubric", [DATA / "judge_outputs_elyza_cmdr.jsonl"]),
        ("pairwise", sorted(DATA.glob("pairwise_*_items.jsonl"))),
    ):
        measured = [shares for path in paths if (shares := measure(name, path)) is not None]
        if measured:
            _print_shares(name, measured)


def _with_responses() -> list[Path]:
    """Files whose rows are outputs that a model would be asked to judge by quality."""
    names = ("scores_alignbench_zh_human", "judge_outputs_elyza_cmdr", "judge_outputs_shaberi")
    return [*(DATA / f"{name}.jsonl" for name in names), *sorted(DATA.glob("pairwise_*_items.jsonl"))]


def _print_shares(name: str, measured: Sequence[Shares]) -> None:
    constant = [share for shares in measured for share in shares.constant]
    question = [share for shares in measured for share in shares.with_question]
    whole = sum(shares.constant_characters for shares in measured) / sum(shares.characters for shares in measured)
    aim = f" (aim: at least {AIMS[name]:.0%})" if name in AIMS else ""
    print(
        f"constant prefix, {name}: {mean(constant):.0%} of a prompt{aim}, {mean(question):.0%} with the question; "
        f"{whole:.0%} of all characters ({len(constant):,} prompts of {plural(len(measured), 'file')})"
    )
    for shares in measured:
        print(f"  {shares.file}: {mean(shares.constant):.0%}, {mean(shares.with_question):.0%} with the question")


def measure(name: str, path: Path) -> Shares | None:
    """The shares of one file; None where it is not there."""
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in itertools.islice(lines, ROWS)]
    language = rows[0].get("language") or "en"
    protocol = load_protocol(name, language)
    samples = [sample for number, row in enumerate(rows) if (sample := _sample_of(row, number)) is not None]
    if protocol.presentations == ("ab", "ba"):
        asked = [(sample, protocol.present(order)) for sample in samples for order in protocol.presentations]
    else:
        asked = [(sample, protocol) for sample in samples]
    if not asked:
        return None
    asked.sort(key=lambda pair: (pair[0].rubric or "", pair[0].question))
    prompts = [_prompt(shown, sample) for sample, shown in asked]
    shared = [0, *(_shared(first, second) for (first, _), (second, _) in itertools.pairwise(prompts))]
    return Shares(
        path.stem,
        tuple(length / len(text) for text, length in prompts),
        tuple(length / len(text) for (text, _), length in zip(prompts, shared, strict=True)),
        sum(len(text) for text, _ in prompts),
        sum(length for _, length in prompts),
    )


def _prompt(protocol: JudgeProtocol, sample: Sample) -> tuple[str, int]:
    """All messages as one text, as a cache sees them; what precedes the question's token is constant."""
    nonces = fence_nonces(b"bench" * 8, sample.key(), sample.question)
    text = "".join(message.content for message in protocol.messages(sample, nonces))
    return text, text.index(nonces.question)


def _shared(first: str, second: str) -> int:
    """How much both begin with."""
    letters = enumerate(zip(first, second, strict=False))
    return next((place for place, pair in letters if pair[0] != pair[1]), min(len(first), len(second)))


def _sample_of(row: dict[str, Any], number: int) -> Sample | None:
    """The row as a sample; None where it lacks a text."""
    row = {**row, **(row["judged"] if isinstance(row.get("judged"), dict) else {})}
    response, question = row.get("response") or row.get("response_a"), row.get("question")
    if not isinstance(response, str) or not isinstance(question, str):
        return None
    sample = Sample(
        id=str(row["id"]),
        question=question,
        response=response,
        response_b=row.get("response_b"),
        ground_truth=row.get("ground_truth"),
        ground_truth_alternatives=tuple(row.get("ground_truth_alternatives") or ()),
        question_id=str(row.get("split_key") or number),
        prompt_variant="A",
        target_model=str(row.get("model") or row.get("judge_model") or "a model"),
        output_id=str(row["id"]),
        task_name=str(row.get("split_key") or number),
    )
    rubric = row.get("rubric")
    return replace(sample, rubric=f"task_type: creative\n\n{rubric}\n") if isinstance(rubric, str) else sample


if __name__ == "__main__":
    main()
