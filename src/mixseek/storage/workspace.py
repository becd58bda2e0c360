"""Where runs live: `<workspace>/runs/<run>/{manifest.json,journal.jsonl,index.duckdb,report.html}`."""

import difflib
import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from mixseek.errors import ConfigurationError, StorageError
from mixseek.storage.durable import make_directory, storage_error
from mixseek.storage.journal.manifest import read_manifest

LATEST = "latest"
SHARDS = "shards"
# The room of answer runs, and what stands before the name of one where a dataset is named.
ANSWERS = "answers"
SHOWN_NAMES = 5
_MAX_NAME_BYTES = 150
_STEM_CHARACTERS = 60


class RunDirectory:
    """The files of one run; none of them need exist yet."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.manifest = path / "manifest.json"
        self.journal = path / "journal.jsonl"
        # Journals of parts of the run that are judged elsewhere, until they are part of the journal.
        self.shards = path / SHARDS
        # Held by whoever writes to the journal.
        self.lock = path / "journal.lock"
        # Made from the journal, and made anew whenever it is in doubt.
        self.index = path / "index.duckdb"
        # What the index says of the run as a whole, for lists of runs.
        self.totals = path / "totals.json"
        # What it came to, for the same lists.
        self.headline = path / "headline.json"
        self.report = path / "report.html"
        # What was asked, kept whole: a user's own file may change after the run.
        self.protocol = path / "protocol.json"
        self.archive = path / "archive"
        # What was left with providers to be answered later, and what came of it.
        self.batches = path / "batches.jsonl"
        # The lines of these, sent and received, until the run is complete.
        self.batch_files = path / "batches"
        # The pairs that a budget was spent on, round by round.
        self.rounds = path / "rounds.json"

    @property
    def workspace(self) -> Path:
        """The root of the workspace that it is in."""
        return self.path.parent.parent

    def exists(self) -> bool:
        """A run begins with its manifest."""
        return self.manifest.is_file()

    def create(self) -> None:
        """Raises StorageError where the workspace cannot be written."""
        make_directory(self.path, "create the run")


class Workspace:
    """A directory of runs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Where earlier versions kept one index for all runs.
        self.outdated_index = root / "mixseek.duckdb"
        # Copies of stdin.
        self.spool = root / "spool"
        # What DuckDB puts on disk for a moment when memory is short.
        self.scratch = root / "tmp"
        # Executions of all competitions; apart from indexes, which may be thrown away at any time: this one never.
        self.competitions = root / "competitions.duckdb"

    def run(self, name: str) -> RunDirectory:
        """The run of that name, existing or not; raises ConfigurationError for what cannot be a name."""
        name = check_run_name(name)
        return RunDirectory(name, self.root / "runs" / name)

    def answers(self, name: str) -> RunDirectory:
        """The answer run of that name, existing or not; raises ConfigurationError for what cannot be a name."""
        name = check_run_name(name)
        return RunDirectory(name, self.root / ANSWERS / name)

    def runs(self) -> list[RunDirectory]:
        """Existing runs by name; a workspace that is not there holds none."""
        return self._list("runs")

    def answer_runs(self) -> list[RunDirectory]:
        """The same of answers."""
        return self._list(ANSWERS)

    def resolve_answers(self, name: str) -> RunDirectory:
        """An existing answer run by its name, by a prefix that only one has, or the latest."""
        runs = self.answer_runs()
        if not runs:
            raise ConfigurationError(f"{self.root}: no answers here; ask for some with `mixseek answer`")
        if name == LATEST:
            return max(runs, key=started_last)
        by_name = {run.name: run for run in runs}
        return by_name[find_name(name, list(by_name), self.root, "answer run")]

    def _list(self, kind: str) -> list[RunDirectory]:
        try:
            entries = sorted((self.root / kind).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise storage_error("list the runs", self.root, error) from error
        # What begins with a dot is on its way out.
        named = (entry for entry in entries if not entry.name.startswith("."))
        directories = (RunDirectory(unicodedata.normalize("NFC", entry.name), entry) for entry in named)
        return [run for run in directories if run.exists()]

    def resolve(self, name: str) -> RunDirectory:
        """An existing run by its name, by a prefix that only one has, or the one started last for `latest`."""
        runs = self.runs()
        if not runs:
            raise ConfigurationError(f"{self.root}: no runs here; start one with `mixseek judge`, or name --workspace")
        if name == LATEST:
            return max(runs, key=started_last)
        by_name = {run.name: run for run in runs}
        return by_name[find_name(name, list(by_name), self.root, "run")]


def find_run(workspace: Workspace, name: str | None) -> RunDirectory:
    """The run of that name; without a name the only one."""
    if name is not None:
        return workspace.resolve(name)
    runs = workspace.runs()
    if len(runs) > 1:
        names = ", ".join(run.name for run in runs[:5])
        raise ConfigurationError(f"{workspace.root}: which run? there is {names}; name one, or `{LATEST}`")
    return workspace.resolve(LATEST)


def check_run_name(name: str) -> str:
    """The name as it is stored (NFC); a run's name is a directory's name."""
    normal = unicodedata.normalize("NFC", name)
    has_control = any(unicodedata.category(character) in ("Cc", "Cs") for character in normal)
    faults = {
        "is empty": not normal.strip(),
        "has a path separator in it": "/" in normal or "\\" in normal,
        "begins with a dot": normal.startswith("."),
        "begins or ends with a space, or has a control character in it": normal != normal.strip() or has_control,
        f"is longer than {_MAX_NAME_BYTES} bytes": len(normal.encode("utf-8", "replace")) > _MAX_NAME_BYTES,
        "is taken: it stands for the run started last": normal == LATEST,
    }
    for why, is_so in faults.items():
        if is_so:
            raise ConfigurationError(f"run name {name!r} {why}; use letters, digits, - and _")
    return normal


def default_run_id(
    *,
    dataset_stem: str,
    dataset_digest: str,
    protocol_name: str,
    protocol_hash: str,
    judges: Sequence[str],
    options: Mapping[str, Any],
) -> str:
    """The same for the same request, so that a command given again resumes; `options` is what else changes it."""
    request = orjson.dumps(
        [dataset_digest, protocol_name, protocol_hash, list(judges), dict(options)], option=orjson.OPT_SORT_KEYS
    )
    stem = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", dataset_stem)).strip("-.")[:_STEM_CHARACTERS] or "data"
    # Sixty characters may be more bytes than a name may have.
    stem = stem.encode()[: _MAX_NAME_BYTES - 60].decode("utf-8", "ignore")
    return f"{stem}-{protocol_name}-{hashlib.sha256(request).hexdigest()[:8]}"


def started_last(run: RunDirectory) -> tuple[str, str]:
    """The key for sorting runs in time; one whose manifest cannot be read comes first."""
    try:
        return read_manifest(run.manifest).started_at.isoformat(), run.name
    except StorageError:
        return "", run.name


def find_name(name: str, known: Sequence[str], root: Path | str, kind: str) -> str:
    """The known one that is meant, also by a prefix that only one has; raises ConfigurationError with what is close."""
    wanted = unicodedata.normalize("NFC", name)
    matching = [candidate for candidate in known if wanted and candidate.startswith(wanted)]
    if wanted in known or len(matching) == 1:
        return wanted if wanted in known else matching[0]
    if matching:
        raise ConfigurationError(f"{kind} {name!r} could be {list_first(matching)}; write more of the name")
    # The nearest come first, and the others after them: one that is near is not the only one there is.
    close = difflib.get_close_matches(wanted, known, n=SHOWN_NAMES, cutoff=0.4)
    remaining = [candidate for candidate in known if candidate not in close]
    raise ConfigurationError(f"{root}: no {kind} {name!r}; there is {list_first([*close, *remaining])}")


def list_first(names: Sequence[str], count: int | None = None) -> str:
    """A few names for a message, and how many more there are of all of them, or of `count`."""
    hidden = (len(names) if count is None else count) - SHOWN_NAMES
    return ", ".join(names[:SHOWN_NAMES]) + (f" and {hidden:,} more" if hidden > 0 else "")
