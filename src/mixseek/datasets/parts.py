"""Several files as one: a folder, a glob, or what stands at an address, of which there is a copy here then."""

import importlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from mixseek.datasets.files import Row, RowSource
from mixseek.datasets.spool import CHUNK_BYTES
from mixseek.errors import DatasetError
from mixseek.storage.duckdb_session import first_line
from mixseek.storage.durable import replacing

_IS_TABLE = re.compile(r".*\.((jsonl|ndjson|json|csv|tsv)(\.gz)?|parquet)", re.IGNORECASE)
_MAGIC = re.compile(r"[*?\[]")
_IS_ADDRESS = re.compile(r"[a-z][a-z0-9+]*://")


def find_parts(path: str, spool_directory: Path | None) -> list[Path]:
    """The files of a dataset, by name; none where the path says one file.

    Raises DatasetError where it says several and there are none.
    """
    if _IS_ADDRESS.match(path):
        if spool_directory is None:
            raise DatasetError(f"{path}: an address cannot be read here; name a file")
        return fetch_parts(path, spool_directory)
    folder = Path(path)
    try:
        is_folder, is_pattern = folder.is_dir(), _MAGIC.search(path) is not None and not folder.exists()
    except OSError:
        # Whoever opens it says why that cannot be done.
        return []
    if is_folder:
        parts = [file for file in folder.rglob("*") if file.is_file() and is_table(str(file.relative_to(folder)))]
    elif is_pattern:
        pattern = str(folder.relative_to(folder.anchor))
        parts = [file for file in Path(folder.anchor).glob(pattern) if file.is_file()]
    else:
        return []
    return sorted(parts) or refuse_nothing(path)


def is_table(name: str) -> bool:
    """Whether a file of a folder holds rows; what other tools leave beside them begins with a dot or an underscore."""
    return _IS_TABLE.fullmatch(name) is not None and not any(part.startswith((".", "_")) for part in Path(name).parts)


def refuse_nothing(path: str) -> NoReturn:
    raise DatasetError(f"{path}: no .jsonl, .json, .csv, .tsv or .parquet file is there; check the path")


def fetch_parts(address: str, directory: Path) -> list[Path]:
    """Copies of the files at an address (s3://, gs://), made by the library that Ray Data reads with, and kept."""
    try:
        arrow: Any = importlib.import_module("pyarrow.fs")
    except ModuleNotFoundError as error:
        raise DatasetError(f"{address}: needs an extra: pip install 'mixseek[ray]'") from error
    # What follows a question mark is for the store: region, endpoint_override.
    named, *settings = address.split("?", 1)
    fixed = _MAGIC.split(named)[0]
    root = named if fixed == named else fixed.rpartition("/")[0]
    try:
        store, base = arrow.FileSystem.from_uri("?".join((root, *settings)))
        files = [store.get_file_info(base)]
        if not files[0].is_file:
            listed = store.get_file_info(arrow.FileSelector(base, recursive=True, allow_not_found=True))
            pattern = base + named[len(root) :]
            files = [
                entry
                for entry in listed
                if entry.is_file
                and (
                    is_table(entry.path.removeprefix(base).lstrip("/"))
                    if root == named
                    else PurePosixPath(entry.path).match(pattern)
                )
            ]
        return sorted(fetch(store, entry, directory / "fetched") for entry in files) or refuse_nothing(address)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{address}: cannot be read: {first_line(error)}") from error


def fetch(store: Any, info: Any, directory: Path) -> Path:
    """Its copy; one of the same size and time is not fetched again."""
    copy: Path = directory / info.path
    if ".." in copy.parts:
        raise DatasetError(f"{info.path}: such a name cannot be kept here; give it another")
    changed = info.mtime_ns
    if copy.is_file() and (copy.stat().st_size, copy.stat().st_mtime_ns) == (info.size, changed):
        return copy
    copy.parent.mkdir(parents=True, exist_ok=True)
    with store.open_input_stream(info.path) as source, replacing(copy) as stream:
        shutil.copyfileobj(source, stream, CHUNK_BYTES)
    os.utime(copy, ns=(changed, changed))
    return copy


def join_sources(path: Path, sources: Sequence[RowSource]) -> RowSource:
    """Rows of one after the other, numbered through."""

    def all_rows() -> Iterator[tuple[RowSource, int, Row]]:
        return ((source, place, row) for source in sources for place, row in source.rows())

    def locate(number: int) -> str:
        # By reading again: it is said once, when something is wrong.
        source, place, _ = next(islice(all_rows(), number - 1, None))
        return source.where(str(source.path), place)

    return RowSource(
        path,
        "+".join(sorted({source.format for source in sources})),
        "row",
        lambda: ((number, row) for number, (_, _, row) in enumerate(all_rows(), 1)),
        tuple(beside for source in sources for beside in source.companions),
        lambda: tuple(notice for source in sources for notice in source.notices()),
        tuple(source.path for source in sources),
        locate,
    )
