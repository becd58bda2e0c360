"""Datasets that hold replies and not the judged text: one reply a row, or a bundle of them, taken apart here."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.files import Row, Rows, RowSource, reading
from mixseek.datasets.response_files import MAX_FILE_BYTES
from mixseek.datasets.rows import ALIASES, FILE_FIELDS, REPLY_COLUMNS
from mixseek.errors import DatasetError
from mixseek.protocols.replies.reply_bundles import Bundle, BundleEntry, split_bundle
from mixseek.storage.journal.records import decode_object

REPLY_COLUMN = "reply"
# Told to whoever reads the reply: an entry may look well and its bundle not be.
PROBLEM_COLUMN = "reply_problem"
# Told too: an entry says in its own way which sample it is about, which a reply by itself would not.
BUNDLED_COLUMN = "reply_bundled"
# What a reply says of itself, taken over where the row says nothing.
_LIFTED = ("question_id", "prompt_variant", "target_model", "output_id", "task_name")
_WHOLE_FILES = (".json", ".txt", ".md")


def read_replies(source: RowSource, mapping: Mapping[str, str], takes_bundles: bool) -> Rows:
    """Rows as they are; where bundles are asked for, one becomes a row for each of its entries, all with its number."""
    paths = (name for name, field in FILE_FIELDS.items() if field == "response")
    texts = [mapping.get(column, column) for column in ("response", *ALIASES["response"], *paths)]
    for place, row in source.rows():
        column = next((name for name in REPLY_COLUMNS if row.get(name) is not None), None)
        # Beside its judged text a reply is about that text, whatever it looks like.
        if column is None or any(row.get(name) for name in texts):
            yield place, row
            continue
        reply = row[column]
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        rest = {name: value for name, value in row.items() if name != column}
        bundle = split_bundle(text) if takes_bundles else None
        if bundle is None:
            yield place, {**lifted(text), **rest, REPLY_COLUMN: text}
        else:
            prefix = f"{row['id']}/" if row.get("id") is not None else f"{place}/"
            yield from ((place, entry) for entry in entry_rows(bundle, rest, prefix))


def read_bundle_file(path: Path) -> Rows:
    """Number of the entry, and a row for it, of a file that is one bundle, as a judge wrote it."""
    bundle = split_bundle(read_whole(path))
    if bundle is None:
        raise DatasetError(f"{path}: changed while it was being read; run again")
    yield from enumerate(entry_rows(bundle, {}, ""), 1)


def choose_reply_source(path: Path, takes_bundles: bool) -> RowSource | None:
    """A whole-file bundle, or None for what is rows; raises DatasetError for a bundle that nobody asked for."""
    if path.suffix.lower() not in _WHOLE_FILES or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        return None
    bundle = split_bundle(read_whole(path))
    # An entry that holds a reply, instead of being one, is a row.
    if bundle is None or any(name in decode_object(entry.text) for entry in bundle[:1] for name in REPLY_COLUMNS):
        return None
    if not takes_bundles:
        raise DatasetError(f"{path}: one reply about many samples; add --bundles to take it apart")
    return RowSource(path, "bundle", "entry", partial(read_bundle_file, path))


def read_whole(path: Path) -> str:
    """The file's text; DatasetError where it is none."""
    with reading(path) as stream:
        data = stream.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not valid UTF-8 (byte {error.start}); convert the file to UTF-8") from error


def entry_rows(bundle: Bundle, rest: Mapping[str, Any], prefix: str) -> Iterator[Row]:
    """Entries that contradict each other become one row with both texts, which no protocol accepts."""
    groups: dict[str, list[BundleEntry]] = {}
    for number, entry in enumerate(bundle, 1):
        groups.setdefault(entry.identities[0] if entry.identities else str(number), []).append(entry)
    for name, entries in groups.items():
        text = "\n".join(entry.text for entry in entries)
        row = {"output_id": name, **lifted(entries[0].text), **rest, "id": f"{prefix}{name}", REPLY_COLUMN: text}
        row[BUNDLED_COLUMN] = True
        problem = entries[0].problem
        if problem is not None:
            row[PROBLEM_COLUMN] = {"flag": problem.flag.value, "detail": problem.detail}
        yield row


def lifted(text: str) -> dict[str, str]:
    """The sample's identity as the reply gives it: with no sample at hand, it is all that can be grouped by."""
    value = decode_object(text)
    meta = value.get("meta")
    sources = (meta, value) if isinstance(meta, dict) else (value,)
    identity = {name: source[name] for name in _LIFTED for source in sources if isinstance(source.get(name), str)}
    return {name: value for name, value in identity.items() if value}
