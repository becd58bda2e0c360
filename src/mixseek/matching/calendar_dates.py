"""Dates written in full, in one spelling: options are often dates, and nobody repeats them in the question's form."""

import re

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAME = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<month>{_NAME})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month2>{_NAME})\.?,?\s+(?P<year2>\d{{4}})\b"
    r"|(?<!\d)(?P<year3>\d{4})\s?[-年/]\s?(?P<month3>\d{1,2})\s?[-月/]\s?(?P<day3>\d{1,2})(?:\s?日)?(?!\d)"
    r"|(?<![\d/])(?P<month4>\d{1,2})/(?P<day4>\d{1,2})/(?P<year4>\d{4})(?!\d)",
    re.IGNORECASE,
)
# Looked for first: the pattern above is dear, and most texts hold no year.
_YEAR = re.compile(r"\d{4}")


def with_plain_dates(text: str) -> str:
    """The text with every full date as MM/DD/YYYY; for comparing, not for showing: lengths change."""
    return _DATE.sub(_plain, text) if _YEAR.search(text) else text


def _plain(found: re.Match[str]) -> str:
    groups = found.groupdict()
    for suffix in ("", "2", "3", "4"):
        year = groups[f"year{suffix}"]
        if year is not None:
            month, day = groups[f"month{suffix}"], groups[f"day{suffix}"]
            number = int(month) if month.isdigit() else _MONTHS[month.lower()]
            # Spaces: in Japanese and Chinese a date stands without them, and words are looked up between spaces.
            return f" {number:02d}/{int(day):02d}/{year} "
    return found[0]


def is_day_of_month(text: str, start: int, end: int) -> bool:
    """Whether the number at [start, end) is the day beside a month's name: "3 March", "March 3rd"."""
    if end - start > len("31"):
        return False
    before, behind = text[max(0, start - 12) : start], text[end : end + 16]
    return bool(
        re.search(rf"(?:{_NAME})\.?\s+$", before, re.IGNORECASE)
        or re.match(rf"(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_NAME})\b", behind, re.IGNORECASE)
        or (before.endswith("月") and behind.startswith("日"))
        or (before.endswith("年") and behind.startswith("月"))
    )
