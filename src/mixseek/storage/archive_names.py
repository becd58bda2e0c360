"""Where things stand in an archive, under names that every file system takes and keeps apart."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

# Seed 003 §6 and §7 name the two rooms.
VALID_ROOM = "有效评测"
INVALID_ROOM = "无效评测"
ROOMS = {"valid": VALID_ROOM, "invalid": INVALID_ROOM}
MARKER = "archive.json"
INDEX = "index.jsonl"
INDEX_TABLE = "index.csv"
SAMPLES = "samples.jsonl"
PROTOCOL = "protocol.json"
RUN_LOG = "run_log.json"
RUN_LOG_TEXT = "run_log.md"
INVALID_README = f"{INVALID_ROOM}/README.md"
# By these a person finds a file; the hash behind them keeps it apart from all others.
_NAMING_FIELDS = ("question_id", "prompt_variant", "target_model")
_PART_BYTES = 48
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def make_safe(text: str, limit_bytes: int = _PART_BYTES) -> str:
    """Letters and digits of any script, `.`, `_` and `-`; what a file system might decompose is reduced to its base."""
    kept = "".join(_keep(character) for character in unicodedata.normalize("NFC", text))
    kept = kept.encode()[:limit_bytes].decode("utf-8", "ignore").strip("-. ")
    return f"_{kept}" if kept.partition(".")[0].casefold() in _RESERVED else kept


def _keep(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isalnum() or base in "._-" else "-"


def name_judges(judges: Iterable[str]) -> dict[str, str]:
    """A directory for each; the hash only where two would be one, or nothing is left of the name."""
    given = list(judges)
    plain = {judge: make_safe(judge) for judge in given}
    folded = [name.casefold() for name in plain.values()]
    return {
        judge: name if name and folded.count(name.casefold()) == 1 else f"{name or 'judge'}-{_digest(judge)[:8]}"
        for judge, name in plain.items()
    }


def name_file(sample: Mapping[str, Any], key: str, judge: str, take: int) -> str:
    """Question, variant and target, or the output's own name; the take; a hash of all that identifies."""
    parts = [make_safe(str(sample[field])) for field in _NAMING_FIELDS if sample.get(field)]
    parts = parts or [make_safe(str(sample.get("output_id") or sample["id"]))]
    readable = [part for part in parts if part] or ["sample"]
    return f"{'_'.join(readable)}_t{take}_{_digest(f'{key} {take} {judge}')[:16]}.json"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
