"""What a dataset is written in, by its scripts: enough to say that a prompt speaks another language."""

import re
from collections.abc import Iterable

_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")

# Of each text; the beginning tells, and a megabyte costs nothing.
_HEAD = 2_000
# Fewer letters say nothing: a dataset of numbers and option letters has no language.
_MIN_LETTERS = 20
# A word of Latin takes several letters where an ideograph is one.
_LETTERS_PER_WORD = 5
# The share of kana in Japanese prose is about a half; names and quotations bring a little into Chinese.
_MIN_KANA = 0.2
_MIN_SHARE = 0.8


def written_in(texts: Iterable[str]) -> str | None:
    """`en`, `ja` or `zh`; None where the scripts are mixed, others, or too few letters to tell.

    Latin letters count as English, which our prompts have; French data are as well served by that.
    """
    kana = han = latin = 0
    for text in texts:
        head = text[:_HEAD]
        kana += len(_KANA.findall(head))
        han += len(_HAN.findall(head))
        latin += len(_LATIN.findall(head))
    words = kana + han + latin / _LETTERS_PER_WORD
    if kana + han + latin < _MIN_LETTERS:
        return None
    if (latin / _LETTERS_PER_WORD) / words >= _MIN_SHARE:
        return "en"
    if (kana + han) / words < 1 - _MIN_SHARE:
        return None
    if kana / (kana + han) >= _MIN_KANA:
        return "ja"
    return "zh" if han / words >= _MIN_SHARE / 2 else None
