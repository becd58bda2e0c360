"""Text in another script is shown with its own shapes of characters."""

import pytest

from mixseek.text.scripts import language_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", None),
        ("答えは三です", "ja"),
        ("ｶﾅ", "ja"),
        ("答案是三", "zh"),
        ("𠮷", "zh"),
        ("정답", "ko"),
        ("", None),
    ],
)
def test_script_is_guessed_only_where_glyphs_differ(text: str, expected: str | None) -> None:
    assert language_of(text) == expected
