"""The index finds every key, tells colliding digests apart, and grows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.judges.replay import judge as offset_index
from mixseek.judges.replay.judge import OffsetIndex

KEYS = st.lists(st.text(alphabet=st.characters(), max_size=5), unique=True, max_size=60)


@given(keys=KEYS)
def test_every_key_is_found_at_its_offset_and_no_other_is(keys: list[str]) -> None:
    index = OffsetIndex()
    for offset, key in enumerate(keys):
        index.add(key, offset)

    assert len(index) == len(keys)
    for offset, key in enumerate(keys):
        assert index.find(key, offset.__eq__) == offset
    assert index.find("not there", lambda at: keys[at] == "not there") is None


def test_it_grows_past_its_first_size() -> None:
    index = OffsetIndex()
    for number in range(5_000):
        index.add(str(number), number * 10)

    assert all(index.find(str(number), lambda _: True) == number * 10 for number in range(5_000))


def test_colliding_digests_are_told_apart_by_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_index, "_digest", lambda _: 7)
    index = OffsetIndex()
    index.add("a", 0)
    index.add("b", 50)

    assert index.find("b", lambda offset: offset == 50) == 50
    assert index.find("c", lambda _: False) is None
