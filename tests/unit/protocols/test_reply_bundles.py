"""A bundle comes apart into entries that keep their own text; one bad entry spoils no other."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.domain.judgments import Flag
from mixseek.protocols.replies.reply_bundles import Bundle, fold_identity, split_bundle

ENTRIES = [
    {"file": "essay one.pdf", "scores": {"form": 2, "sense": 1}, "total": 3},
    {"file": "essay_two.pdf", "scores": {"form": 0, "sense": 1}, "total": 1, "notes": "ends with ] and }"},
]
WRAPPED = {"bundle_meta": {"size": 2, "parts": [{"name": "a"}]}, "per_file": ENTRIES, "aggregates": {"mean": 2}}


def bundle_of(text: str) -> Bundle:
    bundle = split_bundle(text)
    assert bundle is not None
    return bundle


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ENTRIES),
        json.dumps(WRAPPED, indent=2),
        "```json\n" + json.dumps(WRAPPED) + "\n```",
        '<think>[{"file": "no"}]</think>Here you are:\n' + json.dumps(ENTRIES),
        "\ufeff" + json.dumps(WRAPPED) + "\nDone [1].",
    ],
    ids=["list", "object", "fenced", "thought and prose", "marked"],
)
def test_entries_are_cut_out_as_they_stand(text: str) -> None:
    """Whatever stands around the list, each entry's text decodes to what the judge wrote."""
    bundle = bundle_of(text)

    assert [json.loads(entry.text) for entry in bundle] == ENTRIES
    assert [entry.identities for entry in bundle] == [("essay one.pdf",), ("essay_two.pdf",)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no list at all",
        json.dumps(ENTRIES[0]),
        json.dumps({"verdict": "PASS", "evidence": [{"dimension": "form", "quote": "q"}, {"dimension": "s"}]}),
        json.dumps({"flags": [], "scores": [1, 2]}),
        "see [1] and {2}",
        "<think>" + json.dumps(ENTRIES),
    ],
)
def test_a_reply_about_one_sample_is_no_bundle(text: str) -> None:
    """A list of quotes does not make many replies of one."""
    assert split_bundle(text) is None


def test_a_broken_entry_is_named_and_spoils_no_other() -> None:
    """Its identity is read from its text, so that the failure reaches the right sample."""
    text = '{"per_file": [{"file": "a.md", "total": 1}, {"file": "b.md", "total": }, {"file": "c.md", "total": 2}]}'

    bundle = bundle_of(text)

    assert [entry.problem and entry.problem.flag for entry in bundle] == [None, Flag.UNPARSABLE_OUTPUT, None]
    assert bundle[1].identities == ("b.md",)


def test_a_bundle_cut_anywhere_gives_only_whole_entries_as_good() -> None:
    """Half an entry never passes for one."""
    text = json.dumps(WRAPPED)
    for cut in range(len(text)):
        bundle = split_bundle(text[:cut])
        if bundle is None:
            continue
        good = [json.loads(entry.text) for entry in bundle if entry.problem is None]

        assert good == ENTRIES[: len(good)]


def test_copies_count_once_and_contradictions_not_at_all() -> None:
    """The same sample given two scores has none."""
    twice = bundle_of(json.dumps([ENTRIES[0], ENTRIES[0] | {}, ENTRIES[1]]))
    reordered = bundle_of(json.dumps([ENTRIES[0], dict(reversed(ENTRIES[0].items()))]))
    against = bundle_of(json.dumps([ENTRIES[0], ENTRIES[0] | {"total": 2}, ENTRIES[1]]))

    assert [len(twice), len(reordered)] == [2, 1]
    assert [entry.problem and entry.problem.flag for entry in against] == [Flag.INTERNAL_INCONSISTENCY] * 2 + [None]


@pytest.mark.parametrize(
    ("flags", "flag"),
    [
        ([], None),
        (["INCOMPLETE_COVERAGE"], Flag.INCOMPLETE_COVERAGE),
        (["OWN_WORD", "UNPARSABLE_OUTPUT"], Flag.UNPARSABLE_OUTPUT),
        (["OWN_WORD"], Flag.PROTOCOL_VIOLATION),
    ],
)
def test_flags_of_the_bundle_are_flags_of_every_entry(flags: list[str], flag: Flag | None) -> None:
    """Whoever wrote them says that none of it can be used; flags inside an entry are the protocol's business."""
    bundle = bundle_of(json.dumps(WRAPPED | {"flags": flags}))

    assert [entry.problem and entry.problem.flag for entry in bundle] == [flag, flag]


def test_the_identity_of_a_cross_reply_stands_in_its_meta() -> None:
    """Seed 003 names the sample there."""
    replies = [{"meta": {"output_id": f"o{number}", "question_id": "Q1"}, "scores": {}} for number in range(3)]

    assert [entry.identities for entry in bundle_of(json.dumps(replies))] == [("o0",), ("o1",), ("o2",)]


def test_numbers_name_samples_and_truth_values_do_not() -> None:
    """1 is an id; true is not 1."""
    bundle = bundle_of('[{"id": 1, "x": 0}, {"id": "2"}, {"id": true}]')

    assert [entry.identities for entry in bundle] == [("1",), ("2",), ()]


def test_folded_names() -> None:
    """What is taken away, in one table."""
    assert [fold_identity(name) for name in ("Q3 long_x.pdf", "x\\Q3-long-x", "q3longx.TXT")] == ["q3longx"] * 3
    assert fold_identity("v1.2") != fold_identity("v1.3")


@given(st.text(alphabet='[]{}",: \\\nab1é', max_size=80))
def test_splitting_never_raises(text: str) -> None:
    """Whatever the brackets do."""
    split_bundle(text)


def test_a_large_bundle_takes_linear_time() -> None:
    """A hundred thousand brackets that never close are passed over once."""
    split_bundle("[{" * 50_000)

    assert len(bundle_of(json.dumps([{"id": number} for number in range(5_000)]))) == 5_000
