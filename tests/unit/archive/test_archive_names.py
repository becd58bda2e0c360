"""Names that Linux, macOS and Windows take, and keep apart."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.archive.write import JudgeFolders, make_safe, name_file

KEY = "0" * 32
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\s]')


@given(st.text(max_size=80))
def test_any_text_becomes_a_part_that_every_file_system_takes(text: str) -> None:
    """No separator, no device name, nothing that is written otherwise than it is read."""
    part = make_safe(text)

    assert not FORBIDDEN.search(part)
    assert unicodedata.normalize("NFD", part) == unicodedata.normalize("NFC", part) == part
    assert len(part.encode()) <= 49
    assert part == part.strip(". ")
    assert part.partition(".")[0].casefold() not in {"con", "nul", "aux", "prn", "com1", "lpt9"}


@each(
    ("text", "part"),
    [
        ("gpt-5.2", "gpt-5.2"),
        ("replay:r.jsonl", "replay-r.jsonl"),
        ("模型甲", "模型甲"),
        ("café", "cafe"),
        ("../../etc", "etc"),
        ("NUL", "_NUL"),
        ("con.txt", "_con.txt"),
        ("a" * 60, "a" * 48),
        ("...", ""),
        ("\ud800x", "x"),
    ],
)
def test_what_can_be_read_is_kept(text: str, part: str) -> None:
    assert make_safe(text) == part


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=6, unique=True))
def test_no_two_judges_share_a_directory(judges: list[tuple[str, str]]) -> None:
    """Not even on a disk that does not tell A from a; asked again, each has its own."""
    naming = JudgeFolders()
    folders = [naming.name(judge, model).casefold() for judge, model in judges]

    assert len(set(folders)) == len(judges)
    assert all(folders)
    assert [naming.name(judge, model).casefold() for judge, model in judges] == folders


def test_a_directory_is_called_like_the_model_where_that_is_enough() -> None:
    naming = JudgeFolders()

    assert naming.name("replay:r.jsonl", "openai:gpt-5") == "openai-gpt-5"
    assert naming.name("j", "Rules") == "Rules"
    assert re.fullmatch(r"rules-[0-9a-f]{8}", naming.name("k", "rules"))
    assert re.fullmatch(r"judge-[0-9a-f]{8}", naming.name("k", "/../"))


def test_a_file_says_what_it_is_about() -> None:
    sample = {"id": "7", "question_id": "Q3", "prompt_variant": "long/explicit", "target_model": "model-a"}

    assert re.fullmatch(r"Q3_long-explicit_model-a_t2_[0-9a-f]{16}\.json", name_file(sample, KEY, "j", 2))
    assert re.fullmatch(r"7_t1_[0-9a-f]{16}\.json", name_file({"id": "7"}, KEY, "j", 1))
    assert re.fullmatch(r"7_t1_a2_[0-9a-f]{16}\.json", name_file({"id": "7"}, KEY, "j", 1, attempt=2))
    assert re.fullmatch(r"sample_t1_[0-9a-f]{16}\.json", name_file({"id": "/"}, KEY, "j", 1))


def test_files_of_one_question_differ_by_sample_judge_and_take() -> None:
    """Ids that look alike once they are safe, too."""
    names = {
        name_file({"id": sample_id}, key, judge, take)
        for sample_id, key in (("a/b", KEY), ("a:b", "1" * 32))
        for judge in ("j", "J")
        for take in (1, 2)
    }

    assert len(names) == 8


def test_a_name_is_never_too_long() -> None:
    sample = {"id": "x", "question_id": "問" * 99, "prompt_variant": "変" * 99, "target_model": "型" * 99}

    assert len(name_file(sample, KEY, "j", 99).encode()) < 200
