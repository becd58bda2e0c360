"""One judged thing, and the key that says two of them are the same."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# In the metadata of a sample that stands for a hole: it was planned, and the dataset has no output for it.
PLANNED_WITHOUT_OUTPUT = "planned_without_output"
# In the metadata of a sample without a response: why the model that was to write it gave none.
RESPONSE_ERROR = "response_error"
# In the metadata of a sample that another tool has scored: by scorer, what it said.
LOG_SCORES = "scores"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a judge is shown, plus what identifies it. Absent is None, never an empty guess."""

    id: str
    response: str
    question: str = ""
    ground_truth: str | None = None
    # Further answers that are right as well; open question sets list several.
    ground_truth_alternatives: tuple[str, ...] = ()
    question_id: str | None = None
    prompt_variant: str | None = None
    target_model: str | None = None
    output_id: str | None = None
    task_name: str | None = None
    task_type: str | None = None
    rubric: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """Of the texts that may be long: what a sample weighs in memory."""
        return len(self.response) + len(self.question) + len(self.rubric or "") + len(self.ground_truth or "")

    def key(self) -> str:
        """32 hex digits over everything a judge can see; metadata does not change a verdict, so it is left out."""
        parts = (
            self.id,
            self.response,
            self.question,
            self.ground_truth,
            "\x1f".join(self.ground_truth_alternatives),
            self.question_id,
            self.prompt_variant,
            self.target_model,
            self.output_id,
            self.task_name,
            self.task_type,
            self.rubric,
        )
        encoded = [None if part is None else part.encode("utf-8", "surrogatepass") for part in parts]
        # \x00 for None and a length before each part: ("ab", "c") and ("a", "bc") must not collide.
        blob = b"".join([b"\x00" if data is None else b"%d:%b" % (len(data), data) for data in encoded])
        return hashlib.blake2b(blob, digest_size=16).hexdigest()
