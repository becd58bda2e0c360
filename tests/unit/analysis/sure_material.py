"""Runs whose judges say how sure they are, with what people say in the dataset."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.unit.storage.material import CORRECT, INCORRECT, NOW, make_manifest, make_run, make_sample

from mixseek.domain.confidence import Confidence, ConfidenceSource, written_confidence
from mixseek.domain.judgments import Outcome, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol
from mixseek.storage.journal.manifest import ProtocolEntry, RunStatus, write_manifest
from mixseek.storage.journal.records import encode_outcome, encode_sample
from mixseek.storage.workspace import RunDirectory, Workspace


def sure_verdict(chance: float, source: ConfidenceSource = ConfidenceSource.LOGPROBS) -> ValidJudgment:
    """Correct where that is as likely as not, with the probabilities of both."""
    shares = {"correct": chance, "incorrect": 1 - chance}
    verdict = CORRECT if chance >= 0.5 else INCORRECT
    confidence = Confidence(max(chance, 1 - chance), source, shares)
    return replace(verdict, confidence=confidence, expected_score=chance)


def worded(verdict: ValidJudgment, word: str) -> ValidJudgment:
    return replace(verdict, confidence=written_confidence(word))


def labelled_samples(rng: Random, count: int, labels: int) -> Iterator[tuple[float, Sample]]:
    """Two of each question; how likely each is to be right, and for the first so many what a person says of it."""
    for number in range(count):
        chance = rng.random()
        label = "correct" if rng.random() < chance else "incorrect"
        metadata = {"label": label} if number < labels else {}
        yield chance, make_sample(number, question_id=f"q{number // 2}", metadata=metadata)


def lines_of(sample: Sample, judgments: Sequence[tuple[str, int, Outcome]]) -> Iterator[bytes]:
    """A sample with the takes of its judges."""
    yield encode_sample(sample, sample.key())
    for judge, take, outcome in judgments:
        yield encode_outcome(sample, sample.key(), judge, outcome, take)


def semantic_run(root: Path, lines: Sequence[bytes], judges: Sequence[str]) -> tuple[Workspace, RunDirectory]:
    """Under the protocol as it is, so that labels have their scale."""
    workspace, run = make_run(root, lines, judges)
    protocol = load_protocol("semantic", "en", {})
    entry = ProtocolEntry(name="semantic", version=protocol.version, language="en", hash=protocol.hash)
    samples = sum(line.startswith(b'{"t":"sample"') for line in lines)
    done = {"status": RunStatus.COMPLETE, "finished_at": NOW, "sample_count": samples, "repeats": 3}
    write_manifest(run.manifest, make_manifest(judges, protocol=entry, **done))
    return workspace, run


def sure_run(
    root: Path, *, labels: int = 120, count: int = 200, overstated: float = 1.0
) -> tuple[Workspace, RunDirectory]:
    """One judge whose tokens are as often right as they say; more sure than that with a factor above 1."""
    rng, lines = Random(3), list[bytes]()
    for chance, sample in labelled_samples(rng, count, labels):
        said = min(1.0, max(0.0, 0.5 + (chance - 0.5) * overstated))
        lines += lines_of(sample, [("tokens", 1, sure_verdict(said))])
    return semantic_run(root, lines, ("tokens",))


def panel_run(root: Path, *, labels: int = 100) -> tuple[Workspace, RunDirectory]:
    """Three judges: one by its tokens, one that writes words, one that was asked three times and is rarely sure."""
    rng, lines = Random(5), list[bytes]()
    for chance, sample in labelled_samples(rng, 120, labels):
        judgments: list[tuple[str, int, Outcome]] = [("tokens", 1, sure_verdict(chance))]
        guess = CORRECT if rng.random() < chance else INCORRECT
        judgments.append(("words", 1, worded(guess, rng.choice(("high", "medium", "low")))))
        judgments += [("often", take, CORRECT if rng.random() < chance else INCORRECT) for take in (1, 2, 3)]
        lines += lines_of(sample, judgments)
    return semantic_run(root, lines, ("tokens", "words", "often"))
