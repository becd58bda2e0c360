"""What is read from a GGUF file before its weights, and what is refused."""

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.examples import many
from tests.unit.judges.gguf_files import gguf_bytes, write_gguf

from mixseek.errors import ConfigurationError
from mixseek.judges.gguf import GgufHeader, read_header, weights_digest


def test_the_header_names_the_model_and_its_control_tokens(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf")

    assert read_header(path) == GgufHeader("Tiny", "llama", ("<|im_end|>", "<|im|>", "|"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a GGUF model"),
        (b"PK\x03\x04 a zip", "not a GGUF model"),
        (b"GGUF", "a damaged GGUF model (cut short)"),
        (gguf_bytes(version=1), "format version 1"),
        (gguf_bytes()[:-1], "cut short"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "entries"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 60), "bytes of text"),
    ],
)
def test_what_is_no_model_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)

    with pytest.raises(ConfigurationError) as caught:
        read_header(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", ["absent.gguf", "."])
def test_a_missing_file_and_a_directory_are_one_line(tmp_path: Path, place: str) -> None:
    for read in (read_header, weights_digest):
        with pytest.raises(ConfigurationError, match="the model cannot be read"):
            read(tmp_path / place)


@many(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_header_is_read_or_refused_and_nothing_else(tmp_path: Path, data: st.DataObject) -> None:
    """Any byte changed, any length kept: a header or a ConfigurationError, and no memory filled on its word."""
    content = bytearray(gguf_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "model.gguf"
    path.write_bytes(bytes(content[: data.draw(st.integers(4, len(content)))]))

    with contextlib.suppress(ConfigurationError):
        assert isinstance(read_header(path), GgufHeader)


def test_the_digest_follows_the_content_and_not_the_path(tmp_path: Path) -> None:
    first, second = tmp_path / "a.gguf", tmp_path / "b.gguf"
    first.write_bytes(b"x" * 1000)
    second.write_bytes(b"x" * 1000)
    same = weights_digest(first) == weights_digest(second)
    second.write_bytes(b"x" * 999 + b"y")

    assert same
    assert weights_digest(first) != weights_digest(second)
