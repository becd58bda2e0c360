"""What a log holds, counted row by row."""

from dataclasses import field
from typing import Any

from mixseek.datasets.files import Row
from mixseek.datasets.importers.samples.record import WITHHELD
from mixseek.lazy_dataclass import dataclass


@dataclass(slots=True)
class LogCounts:
    """What a log holds; told row by row."""

    samples: int = 0
    responses: int = 0
    empty_responses: int = 0
    targets: int = 0
    errors: int = 0
    # Without a text, though the log calls it no error.
    withheld: int = 0
    # Samples with steps, and how many those are; samples with contexts.
    with_steps: int = 0
    steps: int = 0
    with_contexts: int = 0
    questions: set[str] = field(default_factory=set)
    repeats: int = 0
    stop_reasons: dict[str, int] = field(default_factory=dict)
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    target_models: dict[str, int] = field(default_factory=dict)
    first_errors: list[tuple[str, str]] = field(default_factory=list)

    def add(self, row: Row, shown_errors: int) -> None:
        """One row more; of errors the first `shown_errors` are kept."""
        self.samples += 1
        if row.get("response") is None:
            is_withheld = WITHHELD in row
            self.withheld += is_withheld
            self.errors += not is_withheld
            if len(self.first_errors) < shown_errors:
                self.first_errors.append((row["id"], str(row.get("response_error"))))
        else:
            self.responses += 1
            self.empty_responses += not row["response"].strip()
        self.targets += "ground_truth" in row
        self.with_steps += "steps" in row
        self.steps += len(row.get("steps", ()))
        self.with_contexts += "contexts" in row
        self.questions.add(row["question_id"])
        self.repeats = max(self.repeats, row.get("repeat", 1))
        for table, name in ((self.stop_reasons, row.get("stop_reason")), (self.target_models, row.get("target_model"))):
            if name is not None:
                table[name] = table.get(name, 0) + 1
        for name, score in row.get("scores", {}).items():
            self._add_score(name, score)

    def _add_score(self, name: str, score: dict[str, Any]) -> None:
        counts = self.scores.setdefault(name, {"scores": 0, "correct": 0, "incorrect": 0, "graded": 0, "unreadable": 0})
        counts["scores"] += 1
        verdicts = {None: "graded", True: "correct", False: "incorrect"}
        counts["unreadable" if "problem" in score else verdicts[score.get("is_correct")]] += 1
