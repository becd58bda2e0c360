"""JSON that is walked: whatever `json` reads, the stream cuts at the same places, however small its chunks are."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.datasets.importers.reading import json_stream
from mixseek.datasets.importers.reading.json_stream import CutShortError, JsonStream, walk_file
from mixseek.errors import DatasetError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


class Slow(io.BytesIO):
    """Gives a few bytes at a time, whatever is asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3)


def stream_of(text: str) -> JsonStream:
    return JsonStream(Slow(text.encode()), "text")  # a BytesIO reads like a file


def same(left: Any, right: Any) -> bool:
    """NaN is itself here."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 1]))
def test_items_of_a_list_are_what_json_reads(values: list[Any], indent: int | None) -> None:
    text = json.dumps(values, indent=indent)
    walked = [json.loads(item) for _, item in stream_of(text).walk({(): True})]

    assert same(walked, values)


@given(VALUES, VALUES)
def test_a_value_is_found_below_its_keys_and_the_rest_is_walked_over(wanted: Any, other: Any) -> None:
    text = json.dumps({"before": other, "a": {"x": other, "b": wanted, "y": other}, "after": [other]})
    found = [json.loads(value) for _, value in stream_of(text).walk({("a", "b"): False})]

    assert same(found, [wanted])


@given(VALUES, st.data())
def test_a_text_that_ends_too_early_is_never_taken_for_a_whole_one(value: Any, data: st.DataObject) -> None:
    text = json.dumps([value, "end"])
    cut = data.draw(st.integers(min_value=0, max_value=len(text) - 1))

    with pytest.raises(CutShortError):
        list(stream_of(text[:cut]).walk({(): True}))


def test_brackets_and_quotes_inside_texts_do_not_count() -> None:
    values = ['a"]}', "\\", '\\"', "{[", "\n"]
    walked = [json.loads(item) for _, item in stream_of(json.dumps([values, values])).walk({(): True})]

    assert walked == [values, values]


def test_what_is_nested_too_deeply_is_refused_wherever_it_stands() -> None:
    deep = "[" * 1_000 + "]" * 1_000

    with pytest.raises(DatasetError, match="levels deep"):
        list(stream_of(f'{{"skipped": {deep}, "a": 1}}').walk({("a",): False}))


def test_a_value_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LARGEST_VALUE_BYTES", 100)

    with pytest.raises(DatasetError, match="too large for a sample"):
        list(stream_of(json.dumps(["x" * 500])).walk({(): True}))


@pytest.mark.parametrize("text", ["[1, }]", '{"a" 1}', '{"a": ,}'])
def test_what_is_no_json_is_an_error_and_no_end(text: str) -> None:
    with pytest.raises(DatasetError, match="invalid JSON"):
        list(stream_of(text).walk({("a",): False} if text[0] == "{" else {(): True}))


@pytest.mark.parametrize(
    "text",
    ["NaN", "-Infinity", "1e400", "9223372036854775808", '"half of a pair: \\ud800"', '{"a.b": 1, "a": {"b": 2}}'],
)
def test_what_other_streams_refuse_or_change_is_kept_to_the_letter(text: str) -> None:
    """Inspect writes NaN for a grade that failed; decision 24 has what ijson makes of each."""
    walked = list(stream_of(f'{{"samples": [{text}]}}').walk({("samples",): True}))

    assert walked == [(("samples",), text.encode())]


def test_a_key_with_a_dot_is_no_path() -> None:
    text = '{"a.b": [1], "a": {"b": [2]}}'

    assert list(stream_of(text).walk({("a", "b"): True})) == [(("a", "b"), b"2")]


def test_brackets_without_an_end_are_refused_before_they_fill_the_memory() -> None:
    with pytest.raises(DatasetError, match="levels deep"):
        list(JsonStream(io.BytesIO(b"[" * 400_000), "text").walk({(): True}))


def test_a_file_that_is_cut_short_says_how_many_items_are_whole(tmp_path: Path) -> None:
    """Settings beside the items are no items."""
    path = tmp_path / "log.json"
    wanted: dict[tuple[str, ...], bool] = {("version",): False, ("rows",): True}
    for rows, count in (("[", 0), ("[{}, {", 1), ("[{}, {}, {}, ", 3), ("[1, 2", 1)):
        path.write_text('{"version": 2, "rows": ' + rows, encoding="utf-8")
        notices: list[str] = []
        items = [value for steps, value in walk_file(path, wanted, notices) if steps == ("rows",)]

        assert len(items) == count
        assert notices == [f"the file is cut short: {count} whole items were read, what follows is lost"]


def test_an_item_that_cannot_be_read_is_named_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('{"rows": [1, 2, tru, 4]}', encoding="utf-8")

    with pytest.raises(DatasetError, match=r"log\.json: item 3 cannot be read"):
        list(walk_file(path, {("rows",): True}, []))
