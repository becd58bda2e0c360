"""Members of a zip that is packed with Zstandard: each by itself, bounded by what the zip says, and none twice."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files

from mixseek.datasets.importers.reading.zip_members import Member, list_members, read_members, unpack


def read_all(path: Path) -> tuple[list[Any], list[str]]:
    notices: list[str] = []
    return [value for _, value in read_members(path, list_members(path), notices)], notices


def packed_member(data: bytes, size_bytes: int) -> Member:
    return Member("samples/a.json", 0, len(data), size_bytes, log_files.ZSTANDARD)


def test_members_of_one_name_are_each_read(tmp_path: Path) -> None:
    """A zip that was appended to may have a sample twice: neither is damaged."""
    path = log_files.write_zstandard(tmp_path / "log.eval", {"a.json": '{"take": 1}', "b.json": '{"take": 2}'})
    path.write_bytes(path.read_bytes().replace(b"b.json", b"a.json"))

    assert read_all(path) == ([{"take": 1}, {"take": 2}], [])


@pytest.mark.parametrize("value", [float("nan"), 2**64 - 1, "half of a pair: \ud800", [[[]]], {"a": {"b": "ü"}}])
def test_whatever_json_has_is_read(value: Any, tmp_path: Path) -> None:
    path = log_files.write_zstandard(tmp_path / "log.eval", {"samples/a.json": json.dumps({"value": value})})
    values, notices = read_all(path)

    assert json.dumps(values) == json.dumps([{"value": value}])
    assert notices == []


def test_frames_behind_each_other_are_one_text() -> None:
    data = log_files.pack('{"a": ') + log_files.pack("1}")

    assert unpack(data, packed_member(data, 8)) == b'{"a": 1}'


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_a_cut_or_changed_member_is_none_and_the_others_are_read(cut: int, tmp_path: Path) -> None:
    data = log_files.pack(json.dumps({"text": "one two three" * 9}))
    path = log_files.write_zstandard(tmp_path / "log.eval", {"a.json": '{"a": 1}', "b.json": '{"b": 2}'})
    whole = path.read_bytes()
    place = whole.index(b"\x28\xb5\x2f\xfd")
    path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])

    assert unpack(data[:-cut], packed_member(data, 10_000)) is None
    assert read_all(path) == ([{"b": 2}], ["a.json is damaged and left out"])


def test_what_unpacks_to_more_than_it_says_is_never_unpacked() -> None:
    data = log_files.pack("x" * (200 << 20))
    tracemalloc.start()
    try:
        text = unpack(data, packed_member(data, 1_000))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert text is None
    assert peak_bytes < 8 << 20
