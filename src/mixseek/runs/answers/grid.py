"""Questions × variants as samples to be answered; targets and repeats are the engine's."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, starmap
from typing import Any

from mixseek.datasets.answer_runs import NUMBER, OWN_FIELDS
from mixseek.datasets.questions import Question, QuestionFile
from mixseek.datasets.reader import Survey
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.answers import MESSAGES
from mixseek.runs.answers.variants import Variant, VariantRenderer
from mixseek.text.phrases import listed

# In the metadata of such a sample: the row of its question, by the names of its columns.
COLUMNS = "columns"
_DIGEST_BYTES = 8


@dataclass(frozen=True)
class QuestionGrid:
    """Streams samples in the order of the file, all variants of a question together. What a run takes for a dataset."""

    questions: QuestionFile
    variants: Sequence[Variant]
    limit: int | None = None
    # Told of the id of every prompt, so that recorded answers to none of them can be counted.
    noting: Sequence[Callable[[str], None]] = ()

    @property
    def name(self) -> str:
        return self.questions.name

    @property
    def stem(self) -> str:
        return self.questions.stem

    @property
    def description(self) -> Mapping[str, Any]:
        """What the manifest says of it; the first call reads the whole file."""
        survey = self.survey()
        return {
            "path": self.name,
            "format": self.questions.format,
            "sha256": survey.sha256,
            "bytes": survey.size_bytes,
            "rows": survey.rows // len(self.variants),
            "mapping": dict(survey.mapping),
            "variants": {variant.name: variant.description for variant in self.variants},
        }

    def survey(self) -> Survey:
        """Every question is read and every prompt rendered before anything is paid for."""
        return self._survey

    @cached_property
    def _survey(self) -> Survey:
        before = self.questions.fingerprint()
        samples = 0
        for question, _, variant, _ in self._rendered():
            samples += 1
            for note in self.noting:
                note(prompt_id(question, variant))
        if not samples:
            raise DatasetError(f"{self.name}: there is no question in it; give it at least one row")
        self.questions.check_mapped_columns()
        return Survey(
            rows=samples,
            sha256=self.questions.digest(),
            size_bytes=sum(size for size, _ in before),
            rows_without_ground_truth=0,
            columns=tuple(self.questions.resolved.values()),
            mapping=dict(self.questions.resolved),
            notices=(*self.questions.notices(), *self._hidden_columns()),
        )

    def _hidden_columns(self) -> Iterator[str]:
        if hidden := sorted(OWN_FIELDS & self.questions.columns):
            names = listed([f"`{name}`" for name in hidden])
            yield f"{self.name}: {names}: prompts may use it, but rows have the answer's own under that name"

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Lists of at most `size` samples, in order."""
        samples = starmap(prompt_sample, self._rendered())
        while batch := list(islice(samples, size)):
            yield batch

    def _rendered(self) -> Iterator[tuple[Question, int, str, Sequence[Mapping[str, Any]]]]:
        """Each question with its number, and under each variant what is sent."""
        renderers = [VariantRenderer(variant) for variant in self.variants]
        for number, (place, question) in enumerate(islice(self.questions, self.limit), 1):
            for renderer in renderers:
                try:
                    messages = renderer.messages(question)
                except ConfigurationError as error:
                    raise ConfigurationError(f"{place}: {error}") from error
                yield question, number, renderer.variant.name, messages


def prompt_id(question: Question, variant: str) -> str:
    """What recorded answers are filed under."""
    return f"{question.id}/{variant}"


def prompt_sample(question: Question, number: int, variant: str, messages: Sequence[Mapping[str, Any]]) -> Sample:
    """What is asked, with all that a judge will need; its key is made of the prompt, whose digest is `output_id`."""
    return Sample(
        id=prompt_id(question, variant),
        response="",
        question=question.text,
        ground_truth=question.ground_truth,
        ground_truth_alternatives=question.ground_truth_alternatives,
        question_id=question.id,
        prompt_variant=variant,
        output_id=digest_prompt(messages),
        task_name=question.task_name,
        task_type=question.task_type,
        rubric=question.rubric,
        metadata={MESSAGES: list(messages), COLUMNS: dict(question.columns), NUMBER: number},
    )


def digest_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """16 hex digits over what is sent, roles included."""
    text = json.dumps([[turn["role"], turn["content"]] for turn in messages], ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
