"""Labels of a workspace: `labels/labels.jsonl`, append-only, and one file a draw under `labels/draws/`.

    {"text":…,"protocol":…,"rater":…,"share":…,"given":…,"drawn":…,"draw":…,"is_adjudicated":…,"sample":…,"run":…,
     "note":…,"at":…}

`text` is the digest of the judged text, so that a label serves every run that judges it, whatever its samples are
called; `share` is the label on a scale of 0 to 1, `given` what the rater wrote. Labels of the viewer say more (`id`,
`marks`, `seconds` …; see `domain.labels.Label`), and one that was taken back is followed by a line that `retracts` it.
"""

import dataclasses
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from mixseek.domain.labels import Draw, DrawnRow, Label, Stratum, standing_labels
from mixseek.errors import BusyError, DamagedError
from mixseek.storage.durable import make_directory, replacing, storage_error
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.records import encode_readable_line
from mixseek.storage.workspace import Workspace

# A label is written in a moment: whoever finds another writer waits for it.
_PATIENCE_SECONDS, _LOOK_EVERY_SECONDS = 10.0, 0.01
# The lock of the file is the process's: threads of one server take turns here.
_turn = threading.Lock()


class LabelStore:
    """The labels and draws of one workspace; nothing is made before something is written."""

    def __init__(self, workspace: Workspace) -> None:
        self.path = workspace.root / "labels" / "labels.jsonl"
        self.draws_directory = workspace.root / "labels" / "draws"

    def read(self, protocol: str | None = None) -> list[Label]:
        """All that stand, in the order in which they were given."""
        return standing_labels(self.lines(protocol))

    def lines(self, protocol: str | None = None) -> list[Label]:
        """What was taken back as well; a torn last line is one that was never finished."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("read the labels", self.path, error) from error
        lines = data.split(b"\n")[:-1]
        labels = [self._decode(line, number) for number, line in enumerate(lines, 1)]
        return [label for label in labels if protocol is None or label.protocol == protocol]

    def state(self) -> tuple[int, ...]:
        """Changes with every label and every draw."""
        try:
            status = self.path.stat()
        except OSError:
            return (0, 0)
        return status.st_size, status.st_mtime_ns

    def append(self, labels: Sequence[Label]) -> list[Label]:
        """All of them, with one write that is on disk, or none; those whose id is there already were sent twice."""
        make_directory(self.path.parent, "create")
        with _turn:
            journal = self._open()
            try:
                known = {label.id for label in self.lines() if label.id}
                added = [label for label in labels if label.id not in known]
                journal.append(encode_readable_line(label_document(label)) for label in added)
                return added
            finally:
                journal.close()

    def _open(self) -> JournalFile:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return JournalFile(self.path)
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_EVERY_SECONDS)

    def _decode(self, line: bytes, number: int) -> Label:
        known = {item.name for item in dataclasses.fields(Label)}
        try:
            record = orjson.loads(line)
            label = Label(**{name: value for name, value in record.items() if name in known})
            is_sound = isinstance(label.text, str) and isinstance(label.rater, str) and 0 <= label.share <= 1
        except (ValueError, TypeError, AttributeError) as error:
            raise self._damaged(self.path, f"line {number} is no label") from error
        if not is_sound:
            raise self._damaged(self.path, f"line {number} is no label")
        return label

    # Draws: how the texts of a sheet were chosen.

    def draws(self, run: str | None = None) -> list[Draw]:
        """Oldest first; of one run, or of all."""
        try:
            paths = sorted(self.draws_directory.glob("*.json"))
        except OSError as error:
            raise storage_error("read the draws", self.draws_directory, error) from error
        draws = [self._read_draw(path) for path in paths]
        return sorted((draw for draw in draws if run in (None, draw.run)), key=lambda draw: (draw.at, draw.draw))

    def write_draw(self, draw: Draw) -> Path:
        """Written before the sheet: labels of a sheet whose draw is lost would count for nothing."""
        make_directory(self.draws_directory, "create")
        path = self.draws_directory / f"{draw.draw}.json"
        with replacing(path) as stream:
            stream.write(orjson.dumps(draw_document(draw), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return path

    def rename_run(self, old: str, new: str) -> None:
        """Draws of a run under its new name. Labels belong to texts: they note where they were given, and stay."""
        for draw in self.draws(old):
            self.write_draw(dataclasses.replace(draw, run=new))

    def _read_draw(self, path: Path) -> Draw:
        try:
            return decode_draw(orjson.loads(path.read_bytes()))
        except OSError as error:
            raise storage_error("read the draw", path, error) from error
        except (ValueError, TypeError, KeyError) as error:
            raise self._damaged(path, "not a draw") from error

    @staticmethod
    def _damaged(path: Path, why: str) -> DamagedError:
        return DamagedError(f"{path}: {why}; restore it from a copy")


def label_document(label: Label) -> dict[str, Any]:
    """The label as it is kept: what only the viewer says is left out where it says nothing."""
    document = dataclasses.asdict(label)
    for name in ("id", "retracts", "queue", "marks", "seconds", "saw_verdicts", "steps"):
        if not document[name]:
            del document[name]
    return document


def draw_document(draw: Draw) -> dict[str, Any]:
    """The draw as it is kept: strata with their probabilities, rows with theirs."""
    document = dataclasses.asdict(draw)
    for stratum, stratum_document in zip(draw.strata, document["strata"], strict=True):
        stratum_document["probability"] = stratum.probability
    for row in document["rows"]:
        row["probability"] = draw.strata[row["stratum"]].probability
    return document


def decode_draw(document: dict[str, Any]) -> Draw:
    """Raises KeyError, TypeError or ValueError for anything else."""
    names = {item.name for item in dataclasses.fields(Draw)} - {"strata", "rows", "columns", "earlier"}
    return Draw(
        **{name: document[name] for name in names},
        columns=tuple(document["columns"]),
        earlier=tuple(document["earlier"]),
        strata=tuple(
            Stratum(tuple(stratum["values"]), stratum["texts"], stratum["drawn"]) for stratum in document["strata"]
        ),
        rows=tuple(DrawnRow(row["row"], row["id"], row["text"], row["stratum"]) for row in document["rows"]),
    )
