"""Names of questions: their own, or a digest of what is asked."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest_name(*parts: Any) -> str:
    """A name for a question that has none: the same content, the same name, in every file."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class QuestionNames:
    """Names that tests were given by hand, made unambiguous: one name, one question."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def name(self, wanted: str | None, *content: Any) -> str:
        """What was wanted, unless another question has it already; the same content keeps its name."""
        digest = digest_name(*content)
        if digest not in self._names:
            name = wanted if wanted and wanted not in self._taken else f"{wanted}~{digest}" if wanted else digest
            self._names[digest] = name
            self._taken.add(name)
        return self._names[digest]


_ID_KEYS = ("id", "question_id", "qid", "sample_id", "idx")


def own_id(table: Mapping[str, Any], otherwise: Any) -> str:
    """The question's own id, where it has one that can be written as text."""
    identity = next((table[key] for key in _ID_KEYS if isinstance(table.get(key), str | int)), otherwise)
    return str(identity)
