"""Labels of a workspace: `labels/labels.jsonl`, append-only, and one file a draw under `labels/draws/`.

    {"text":…,"protocol":…,"rater":…,"share":…,"given":…,"drawn":…,"draw":…,"is_adjudicated":…,"sample":…,"run":…,
     "note":…,"at":…}

`text` is the digest of the judged text, so that a label serves every run that judges it, whatever its samples are
called; `share` is the label on a scale of 0 to 1, `given` what the rater wrote.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from mixseek.domain.labels import Draw, DrawnRow, Label, Stratum
from mixseek.errors import DamagedError
from mixseek.storage.durable import make_directory, replacing, storage_error
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.records import encode_readable_line
from mixseek.storage.workspace import Workspace


class LabelStore:
    """The labels and draws of one workspace; nothing is made before something is written."""

    def __init__(self, workspace: Workspace) -> None:
        self.path = workspace.root / "labels" / "labels.jsonl"
        self.draws_directory = workspace.root / "labels" / "draws"

    def read(self, protocol: str | None = None) -> list[Label]:
        """In the order in which they were given; a torn last line is one that was never finished."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("read the labels", self.path, error) from error
        lines = data.split(b"\n")[:-1]
        labels = [self._decode(line, number) for number, line in enumerate(lines, 1)]
        return [label for label in labels if protocol is None or label.protocol == protocol]

    def append(self, labels: Sequence[Label]) -> None:
        """All of them, with one write, or none."""
        make_directory(self.path.parent, "create")
        journal = JournalFile(self.path)
        try:
            journal.append(encode_readable_line(dataclasses.asdict(label)) for label in labels)
        finally:
            journal.close()

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
        found = [self._read_draw(path) for path in paths]
        return sorted((one for one in found if run in (None, one.run)), key=lambda one: (one.at, one.draw))

    def write_draw(self, draw: Draw) -> Path:
        """Before the sheet: labels of a sheet whose draw is lost would count for nothing."""
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


def draw_document(draw: Draw) -> dict[str, Any]:
    """As it is kept: strata with their probabilities, rows with theirs."""
    document = dataclasses.asdict(draw)
    for stratum, kept in zip(draw.strata, document["strata"], strict=True):
        kept["probability"] = stratum.probability
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
        strata=tuple(Stratum(tuple(one["values"]), one["texts"], one["drawn"]) for one in document["strata"]),
        rows=tuple(DrawnRow(one["row"], one["id"], one["text"], one["stratum"]) for one in document["rows"]),
    )
