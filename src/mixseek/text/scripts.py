"""Which language a text in another script is probably in."""

import re

# A cheap guess, only to choose between Japanese, Korean and Chinese shapes of the same characters. Not compiled here:
# that takes 4 ms, and most texts have no such character.
_SCRIPTS = {
    "ja": r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]",
    "ko": r"[\u1100-\u11ff\uac00-\ud7af]",
    "zh": r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]",
}


def language_of(text: str) -> str | None:
    """Kana before Hangul before Han: Japanese uses all Chinese characters too."""
    if text.isascii():
        return None
    return next((language for language, script in _SCRIPTS.items() if re.search(script, text)), None)
