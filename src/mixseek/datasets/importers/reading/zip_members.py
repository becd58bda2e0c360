"""Members of a zip, also of one that was cut, and also packed with Zstandard."""

import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.reading.json_stream import LARGEST_VALUE_BYTES, parse_or_none
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
_LOCAL_SIGNATURE = b"PK\x03\x04"
_DATA_DESCRIPTOR = 0x08
_SIZE_IN_64_BITS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Member:
    """Where a packed file stands in a zip."""

    name: str
    begin: int  # of its local header
    packed_bytes: int
    size_bytes: int
    method: int


def list_members(path: Path) -> list[Member]:
    """The members by the directory at the end, or where that is cut off, by the headers before each member."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error):
        return list(scan_members(path))
    return [
        Member(entry.filename, entry.header_offset, entry.compress_size, entry.file_size, entry.compress_type)
        for entry in entries
    ]


def is_cut_zip(path: Path) -> bool:
    """Whether its directory is missing."""
    return not zipfile.is_zipfile(path)


def scan_members(path: Path) -> Iterator[Member]:
    """The members as far as they are whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        begin = 0
        while len(header := file.read(_LOCAL_HEADER.size)) == _LOCAL_HEADER.size:
            signature, _, flags, method, _, _, _, packed, unpacked, name_length, extra_length = _LOCAL_HEADER.unpack(
                header
            )
            name = file.read(name_length).decode("utf-8", "replace")
            end = begin + _LOCAL_HEADER.size + name_length + extra_length + packed
            is_known = signature == _LOCAL_SIGNATURE and not flags & _DATA_DESCRIPTOR and packed != _SIZE_IN_64_BITS
            if not is_known or end > size:
                return
            yield Member(name, begin, packed, unpacked, method)
            begin = end
            file.seek(begin)


def read_members(path: Path, members: list[Member], notices: list[str]) -> Iterator[tuple[Member, Any]]:
    """Each member with its JSON value, in the order of the zip; one that is damaged is left out and told."""
    for member in members:
        if member.size_bytes > LARGEST_VALUE_BYTES:
            raise DatasetError(
                f"{path}: {member.name} unpacks to {member.size_bytes >> 20:,} MB, too large for a sample "
                f"(at most {LARGEST_VALUE_BYTES >> 20} MB)"
            )
    with path.open("rb") as file:
        for member in members:
            text = unpack(packed_data(file, member), member)
            # A member that is longer than its zip says is not what was written.
            value = None if text is None or len(text) > member.size_bytes else parse_or_none(text)
            if value is None:
                notices.append(f"{member.name} is damaged and left out")
            else:
                yield member, value


def packed_data(file: BufferedReader, member: Member) -> bytes:
    """The data as it stands in the zip."""
    file.seek(max(member.begin, 0))
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        return b""
    *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)
    return file.read(member.packed_bytes)


def unpack(data: bytes, member: Member) -> bytes | None:
    """The member's text; None where it is damaged or packed in another way. Never much more than it says it has."""
    match member.method:
        case zipfile.ZIP_STORED:
            return data
        case zipfile.ZIP_DEFLATED:
            return unpack_deflated(data, member.size_bytes)
        case method if method == _ZSTANDARD:
            return unpack_zstandard(data, member.size_bytes)
    return None


def unpack_deflated(data: bytes, size_bytes: int) -> bytes | None:
    try:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        text = unpacker.decompress(data, size_bytes + 1)
    except zlib.error:
        return None
    return text if unpacker.eof else None


def unpack_zstandard(data: bytes, size_bytes: int) -> bytes | None:
    """The content of all its frames, one behind the other."""
    # Late: most logs are packed otherwise, and it takes longer to load than the other formats together.
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    text = b""
    try:
        while data:
            unpacker = zstd.ZstdDecompressor()
            text += unpacker.decompress(data, size_bytes + 1 - len(text))
            if not unpacker.eof or len(text) > size_bytes:
                # Cut, or more than the zip says.
                return None
            data = unpacker.unused_data
    except zstd.ZstdError:
        return None
    return text
