"""One judged thing, the key that says two of them are the same, and what a protocol needs of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import field, fields
from operator import attrgetter
from typing import Any

from mixseek.domain.steps import STEP_FIELDS, Context, Step, context_documents, digest_of_steps, step_documents
from mixseek.lazy_dataclass import dataclass

# In the metadata of a sample that stands for a hole: it was planned, and the dataset has no output for it.
PLANNED_WITHOUT_OUTPUT = "planned_without_output"
# In the metadata of a sample without a response: why the model that was to write it gave none.
RESPONSE_ERROR = "response_error"
# In the metadata of a sample that another tool has scored: by scorer, what it said.
LOG_SCORES = "scores"
# In such a score: its scorer grades, so that the value is no verdict.
GRADED = "graded"
# In the metadata of a pair: which of its responses people prefer, in whatever words (see `domain.panels`).
HUMAN_PREFERENCE = "human_preference"


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
    # The other response to the same question, where two are compared, and who wrote it; `response` is A then.
    response_b: str | None = None
    target_b: str | None = None
    # What happened before the response, and the same of the other one of a pair; the documents that were given.
    steps: tuple[Step, ...] = ()
    steps_b: tuple[Step, ...] = ()
    contexts: tuple[Context, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """The length of the texts that may be long: what a sample weighs in memory."""
        texts = (self.response, self.response_b, self.question, self.rubric, self.ground_truth)
        characters = sum(len(text or "") for text in texts)
        if self.steps or self.steps_b or self.contexts:
            characters += sum(step.characters for step in (*self.steps, *self.steps_b))
            characters += sum(len(context.text) for context in self.contexts)
        return characters

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
            # Only of pairs: what is no pair keeps the key that it had before there were any.
            *(() if self.response_b is None and self.target_b is None else (self.response_b, self.target_b)),
        )
        encoded = [None if part is None else part.encode("utf-8", "surrogatepass") for part in parts]
        # \x00 for None and a length before each part: ("ab", "c") and ("a", "bc") must not collide.
        blob = b"".join([b"\x00" if data is None else b"%d:%b" % (len(data), data) for data in encoded])
        if self.steps or self.steps_b or self.contexts:
            # Only of samples that have them, for the same reason. No part before begins with this byte.
            blob += b"\x01%b" % (digest_of_steps(self.step_documents()) or "").encode()
        return hashlib.blake2b(blob, digest_size=16).hexdigest()

    def step_documents(self) -> dict[str, list[dict[str, Any]]]:
        """Steps and contexts as JSON has them, by field, those that are there."""
        if not (self.steps or self.steps_b or self.contexts):
            return {}
        written = zip(
            STEP_FIELDS,
            (step_documents(self.steps), step_documents(self.steps_b), context_documents(self.contexts)),
            strict=True,
        )
        return {name: documents for name, documents in written if documents}

    def __reduce__(self) -> tuple[Any, ...]:
        """It reaches another process in half of the time that a dataclass takes, which looks up its fields anew."""
        return Sample, _values_of(self)


_values_of = attrgetter(*(field.name for field in fields(Sample)))


@dataclass(frozen=True, slots=True)
class SampleNeeds:
    """What a protocol needs of every sample beside a question, whoever judges it."""

    # Of the fields that place a sample in a grid.
    fields: tuple[str, ...] = ()
    rubric: bool = False
    # That a rubric may name; empty where the protocol knows no types.
    task_types: tuple[str, ...] = ()
    # Why replies that were recorded elsewhere cannot be checked without the response; None where they can.
    response_reason: str | None = None
    # Two responses to each question.
    is_pair: bool = False
    # What happened before the response, which may then be absent; and the documents that were given.
    steps: bool = False
    contexts: bool = False
