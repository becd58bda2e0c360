"""What a person is asked about a text, and what their answer means on the protocol's scale."""

import math
from collections.abc import Mapping
from typing import Any

from mixseek.domain.labels import LabelError, LabelScale
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.claims import ClaimsProtocol
from mixseek.protocols.pairwise import PairwiseProtocol
from mixseek.protocols.scored.arithmetic import maxima_of, total_of, total_range, verdict_of
from mixseek.protocols.scored.languages import in_language
from mixseek.protocols.scored.parameters import ScoredParameters, Words
from mixseek.protocols.scored.protocol import ScoredProtocol
from mixseek.protocols.scored.sample_facts import facts_of

# Words with the keys that give them.
VERDICTS = {"correct": ("c", "1"), "incorrect": ("i", "2")}
PREFERENCES = {"A": ("a", "1"), "B": ("b", "2"), "tie": ("e", "0")}
# So many values have a key each: the digits.
_MOST_KEYS = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """A label as it is kept: as given, as a share of the scale, and by dimension where there are any."""

    given: str
    share: float
    marks: Mapping[str, float]


def label_scale(protocol: JudgeProtocol, task_type: str | None) -> LabelScale:
    """What a person labels on: right or wrong, which of two, or the protocol's total."""
    if isinstance(protocol, PairwiseProtocol):
        return LabelScale(is_binary=False, is_preference=True)
    if isinstance(protocol, ClaimsProtocol):
        # The share of claims that is supported.
        return LabelScale(0.0, 1.0, is_binary=False)
    if not isinstance(protocol, ScoredProtocol):
        return LabelScale()
    worst, best = map(float, total_range(protocol.settings, task_type))
    if protocol.settings.scale.direction == "lower_is_better":
        worst, best = best, worst
    return LabelScale(worst, best, is_binary=False)


class LabelForm:
    """The form for one sample: right or wrong, which of two, a value for each dimension, or the total alone."""

    def __init__(self, protocol: JudgeProtocol, sample: Sample) -> None:
        self._protocol = protocol
        self._settings: ScoredParameters | None = None
        self._type: str | None = None
        if isinstance(protocol, ScoredProtocol):
            self._settings = protocol.settings
            self._type = facts_of(sample, protocol.settings).task_type
        self.scale = label_scale(protocol, self._type)
        # Of a pair no step can be labelled: which side it is on would not be said.
        self._steps = len(sample.steps) if sample.response_b is None else 0
        self._words = PREFERENCES if self.scale.is_preference else VERDICTS

    @property
    def _is_share(self) -> bool:
        """A share is typed, not chosen: neither right nor wrong, and of no dimensions."""
        return self._settings is None and not self.scale.is_binary and not self.scale.is_preference

    @property
    def _is_total(self) -> bool:
        """Maxima of a dimension differ by type: without one there is no scale to mark it on."""
        settings = self._settings
        return settings is not None and bool(settings.task_types.types) and self._type is None

    def describe(self, language: str) -> dict[str, Any]:
        """The form as a document, for whoever draws it."""
        return {**self._describe(language), **({"steps": self._steps} if self._steps else {})}

    def _describe(self, language: str) -> dict[str, Any]:
        settings = self._settings
        if settings is None and self._is_share:
            return {"kind": "total", "minimum": self.scale.minimum, "maximum": self.scale.maximum}
        if settings is None:
            options = [{"value": word, "keys": list(keys)} for word, keys in self._words.items()]
            return {"kind": "verdict", "options": options}
        lowest, highest = sorted((self.scale.minimum, self.scale.maximum))
        ends = {"minimum": lowest, "maximum": highest}
        if self._is_total:
            return {"kind": "total", **ends}
        maxima, least = maxima_of(settings, self._type), settings.scale.minimum
        is_whole = settings.scale.values == "integer"
        dimensions = [
            {
                "name": name,
                "title": self._say(dimension.title, language) or name,
                "description": self._say(dimension.description, language),
                "minimum": least,
                "maximum": maxima[name],
                "is_whole": is_whole,
                # Few values are one key each, others are typed.
                "has_keys": is_whole and least >= 0 and maxima[name] < _MOST_KEYS,
            }
            for name, dimension in settings.dimensions.items()
        ]
        return {
            "kind": "marks",
            **ends,
            "dimensions": dimensions,
            "values": {value: self._say(words, language) for value, words in settings.scale.labels.items()},
            "gates": [
                {"name": name, "description": self._say(gate.description, language)}
                for name, gate in settings.gates.items()
            ],
        }

    def _say(self, words: Words, language: str) -> str:
        return in_language(words, language) or in_language(words, self._protocol.language)

    def read(self, verdict: str | None, marks: Mapping[str, float] | None, total: float | None) -> Answer:
        """Raises LabelError for anything that the form does not ask for."""
        settings = self._settings
        if settings is None and not self._is_share:
            if verdict not in self._words:
                raise LabelError(f"verdict {verdict!r} is none; give {self.scale.describe()}")
            return Answer(verdict, self.scale.read(verdict), {})
        if settings is None or self._is_total:
            if total is None:
                raise LabelError(f"no total; give one from {self.scale.describe()}")
            return Answer(f"{total:g}", self.scale.read(total), {})
        checked = self._check_marks(settings, marks or {})
        total = total_of(settings, {name: checked[name] for name in settings.dimensions}, self._type)
        return Answer(f"{total:.12g}", self.scale.read(total), checked)

    def read_steps(self, marks: Mapping[str, float] | None) -> dict[str, float]:
        """Which steps are right and which wrong, in their order; LabelError for a step that is not there."""
        for name, mark in (marks or {}).items():
            if not (name.isdecimal() and name.isascii()) or not 1 <= int(name) <= self._steps:
                raise LabelError(f"steps.{name}: no such step; the sample has {self._steps}")
            if mark not in (0, 1):
                raise LabelError(f"steps.{name}: {mark:g} is no label of a step; give 1 for right or 0 for wrong")
        return {
            str(number): float(mark) for number, mark in sorted((int(n), mark) for n, mark in (marks or {}).items())
        }

    def _check_marks(self, settings: ScoredParameters, marks: Mapping[str, float]) -> dict[str, float]:
        unknown = [name for name in marks if name not in settings.dimensions and name not in settings.gates]
        if unknown:
            raise LabelError(f"marks.{unknown[0]}: no such dimension; there is {', '.join(settings.dimensions)}")
        failed = {name: 1.0 for name in settings.gates if marks.get(name)}
        if any(settings.gates[name].effect == "all_zero" for name in failed):
            return {**dict.fromkeys(settings.dimensions, 0), **failed}
        maxima, least = maxima_of(settings, self._type), settings.scale.minimum
        checked: dict[str, float] = {}
        for name in settings.dimensions:
            value = marks.get(name)
            if value is None or not math.isfinite(value) or not least <= value <= maxima[name]:
                problem = "no value" if value is None else f"{value:g} is outside the scale"
                raise LabelError(f"marks.{name}: {problem}; give one from {least:g} to {maxima[name]:g}")
            if settings.scale.values == "integer" and value != int(value):
                raise LabelError(f"marks.{name}: {value:g} is not whole, as the protocol's values are")
            checked[name] = int(value) if value == int(value) else value
        return {**checked, **failed}

    def verdict(self, marks: Mapping[str, float]) -> str | None:
        """What the protocol calls a text with these marks; None where there are none."""
        settings = self._settings
        if settings is None or not marks:
            return None
        scores = {name: marks[name] for name in settings.dimensions}
        return verdict_of(settings, scores, total_of(settings, scores, self._type), set(marks) - set(scores))
