"""Where things stand in an archive, under names that every file system takes and keeps apart."""

import hashlib
import unicodedata
from collections.abc import Mapping
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
# Seed 003 §9.
PROMPTS = "使用的提示词清单.md"
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


class JudgeFolders:
    """A directory for each judge, called like the model that judged; a hash only where two would be one."""

    def __init__(self) -> None:
        self._folders: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def name(self, judge: str, model: str) -> str:
        """The same for the same judge and model; never one that another has, not even where A is a."""
        known = self._folders.get((judge, model))
        if known is not None:
            return known
        name = make_safe(model)
        if not name or name.casefold() in self._taken:
            digest = _digest(f"{judge}\n{model}")[:8]
            name = f"{name or 'judge'}-{digest}"
        self._taken.add(name.casefold())
        self._folders[judge, model] = name
        return name


def name_file(sample: Mapping[str, Any], key: str, judge: str, take: int, attempt: int | None = None) -> str:
    """Question, variant and target, or the output's own name; the take; a hash of all that identifies.

    `attempt` numbers replies that were asked for again; the one that counts has none in its name.
    """
    parts = [make_safe(str(sample[field])) for field in _NAMING_FIELDS if sample.get(field)]
    parts = parts or [make_safe(str(sample.get("output_id") or sample["id"]))]
    readable = [part for part in parts if part] or ["sample"]
    tried = "" if attempt is None else f"_a{attempt}"
    return f"{'_'.join(readable)}_t{take}{tried}_{_digest(f'{key} {take} {judge}{tried}')[:16]}.json"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
