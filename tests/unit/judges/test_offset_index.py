"""Every key is found at its offset, and what nobody wanted is named."""

from hypothesis import given
from hypothesis import strategies as st

from mixseek.judges.replay import OffsetIndex

KEYS = st.lists(st.text(alphabet=st.characters(), max_size=5), unique=True, max_size=60)


@given(keys=KEYS, wanted=st.sets(st.integers(0, 59)))
def test_every_key_is_found_at_its_offset_whether_it_was_wanted_or_not(keys: list[str], wanted: set[int]) -> None:
    index = OffsetIndex()
    for offset, key in enumerate(keys):
        index.add(key, offset)
    for offset in wanted & set(range(len(keys))):
        index.mark(keys[offset])
        index.mark(keys[offset])
    index.mark("not there")
    unwanted = [offset for offset in range(len(keys)) if offset not in wanted]

    assert len(index) == len(keys)
    assert [index.find(key) for key in keys] == list(range(len(keys)))
    assert index.find("not there") is None
    assert index.unmarked(3) == (len(unwanted), unwanted[:3])
