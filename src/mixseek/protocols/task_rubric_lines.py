"""A Markdown task rubric as lines with a role, in one pass: headings, items, keys, and what only looks like one."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto


class Section(StrEnum):
    """The sections that mean something beyond their text (seed 000)."""

    CRITICAL = "critical"
    FACTS = "facts"
    BONUS = "bonus"
    PENALTY = "penalty"


# The first of each is the one that the prompts name. The others are read too, because a judge would read them so.
HEADINGS: dict[Section, tuple[str, ...]] = {
    Section.CRITICAL: ("Critical Fail Conditions",),
    Section.FACTS: (
        "採点者向け事実情報",
        "Facts for the Grader",
        "Facts for Graders",
        "Facts for the Judge",
        "给评分者的事实信息",
        "供评分者参考的事实信息",
    ),
    Section.BONUS: (
        "加点項目",
        "加点",
        "加点要素",
        "加点基準",
        "Bonus",
        "Bonus items",
        "Bonus points",
        "加分项",
        "加分",
        "加分项目",
    ),
    Section.PENALTY: (
        "減点項目",
        "減点",
        "減点要素",
        "減点基準",
        "Penalty",
        "Penalties",
        "Penalty items",
        "Deductions",
        "扣分项",
        "扣分",
        "减分项",
        "扣分项目",
    ),
}
# Meant as a section above, under a name that the prompts do not use.
_LOOK_ALIKES: dict[Section, re.Pattern[str]] = {
    Section.CRITICAL: re.compile(
        r"critical.{0,3}fail|fatal (?:fail|error|cond)|クリティカル.{0,2}フェイル|致命的.{0,6}(?:失敗|条件)"
        r"|致命.{0,6}(?:失败|条件)|严重失败|一票否决"
    ),
    Section.FACTS: re.compile(
        r"(?:facts?|reference|ground truth).{0,12}(?:grader|judge|scorer|rater)"
        r"|(?:採点者|審査員|評価者).{0,6}(?:事実|情報)|(?:评分|评审|评判|评测)者?.{0,6}事实"
    ),
    Section.BONUS: re.compile(r"^(?:bonus|加点|加分)"),
    Section.PENALTY: re.compile(r"^(?:penalt|deduct|減点|减分|扣分)"),
}
_KNOWN_TITLES = {
    unicodedata.normalize("NFKC", title).casefold(): section for section, titles in HEADINGS.items() for title in titles
}

# A longer title is prose; comparing it further would only cost time.
_MAX_TITLE = 80
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEADING = re.compile(r" {0,3}([#＃]{1,6})([ \t\u3000]*)(.*)")
_BOLD_TITLE = re.compile(r" {0,3}\*\*([^*]{1,80})\*\*[:：]?\s*")
_BARE_TITLE = re.compile(r" {0,3}(?:【([^【】]{1,80})】[:：]?|([^\s【】][^【】]{0,79}?)[:：])\s*")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]\s+|[・•]\s*|\d{1,3}[.)]\s+|\d{1,3}[．）]\s*)(?:\[[ xX]?\]\s+)?(?=\S)")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*")
_TABLE_RULE = re.compile(r"[\s|:-]*")
_KEY = re.compile(
    r"\s{0,3}(?:[-*+>#]+\s+)?[`*_\"]*"
    r"(?P<key>task[_ -]?type|task[_ -]?name|タスク型|タスク種別|タスク名|任务类型|任务名称?)"
    r"[`*_\"]*\s*[:：=]\s*(?P<value>.*)",
    re.IGNORECASE,
)
_KEY_NAMES = {
    "tasktype": "task_type",
    "タスク型": "task_type",
    "タスク種別": "task_type",
    "任务类型": "task_type",
    "taskname": "task_name",
    "タスク名": "task_name",
    "任务名": "task_name",
    "任务名称": "task_name",
}


class Role(Enum):
    """What a line is to the reader of a rubric."""

    BLANK = auto()
    FRONT_MATTER = auto()
    HEADING = auto()
    KEY = auto()
    ITEM = auto()
    TABLE_ROW = auto()
    PROSE = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class RubricLine:
    """`text` is what the line says without its markup; `key` names the key of a KEY line.

    `level` and `section` belong to headings; `is_exact` is False for a title that only resembles one of HEADINGS or
    is not marked as a heading in the way Markdown wants it.
    """

    number: int
    role: Role
    text: str
    raw: str
    key: str | None = None
    level: int = 0
    section: Section | None = None
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class RubricLines:
    """All lines, and where a block was opened and never closed (line numbers, or None)."""

    lines: tuple[RubricLine, ...]
    open_front_matter: int | None = None
    open_code_fence: int | None = None
    open_comment: int | None = None


def split_rubric(text: str) -> RubricLines:
    """Every line with its role. Linear: no line is looked at more often than a fixed number of times."""
    raw = _LINE_END.split(text.removeprefix("\ufeff"))
    body_start, open_front_matter = _front_matter_end(raw)
    front = [_front_matter_line(number, line) for number, line in enumerate(raw[:body_start], start=1)]
    body = _Body(raw, body_start)
    lines = tuple(front) + tuple(body.lines())
    return RubricLines(lines, open_front_matter, body.open_code_fence, body.open_comment)


def clean_value(text: str) -> str:
    """A key's value without the marks that people put around it."""
    return text.split("<!--", 1)[0].strip().strip("`*_\"'「」“”‘’ \t\u3000")


def section_of(title: str) -> tuple[Section | None, bool]:
    """Which section a title means, and whether it is worded as the prompts or their translations word it."""
    if len(title) > _MAX_TITLE:
        return None, True
    folded = " ".join(unicodedata.normalize("NFKC", title).casefold().strip("*_`#:. \t").split())
    # A title may say how many points there are, or repeat itself in another language.
    bare = re.split(r"[(\[:/]", folded, maxsplit=1)[0].strip()
    if bare in _KNOWN_TITLES:
        return _KNOWN_TITLES[bare], True
    for section, pattern in _LOOK_ALIKES.items():
        if pattern.search(folded):
            return section, False
    return None, True


def names_critical_fail(line: str) -> bool:
    """The line speaks of critical fails, in whatever form."""
    folded = unicodedata.normalize("NFKC", line[:1_000]).casefold()
    return _LOOK_ALIKES[Section.CRITICAL].search(folded) is not None


def _front_matter_end(raw: list[str]) -> tuple[int, int | None]:
    """How many lines the front matter takes; a rule `---` that is never repeated opens none."""
    if raw[0].rstrip() != "---":
        return 0, None
    for index, line in enumerate(raw[1:], start=1):
        if line.rstrip() in {"---", "..."}:
            return index + 1, None
        if line.strip() and not re.match(r"\s*(?:#|[\w-]{1,60}\s*[:：])|\s*-\s", line):
            break
    return 0, 1


def _front_matter_line(number: int, line: str) -> RubricLine:
    found = re.match(r"\s*([\w-]{1,60})\s*[:：]\s*(.*)", line)
    if found is None or line.lstrip().startswith("#"):
        return RubricLine(number, Role.FRONT_MATTER, line.strip(), line)
    value = re.split(r"\s#", found[2], maxsplit=1)[0]
    return RubricLine(number, Role.FRONT_MATTER, clean_value(value), line, key=found[1])


class _Body:
    """Walks over the lines below the front matter; what stays open at the end is asked for afterwards."""

    def __init__(self, raw: list[str], start: int) -> None:
        self._raw = raw
        self._start = start
        self.open_code_fence: int | None = None
        self.open_comment: int | None = None
        self._fence = ""

    def lines(self) -> Iterator[RubricLine]:
        for index in range(self._start, len(self._raw)):
            line, number = self._raw[index], index + 1
            if self._is_code(line, number):
                yield RubricLine(number, Role.CODE, line, line)
            elif self._is_comment(line, number) or not line.strip():
                yield RubricLine(number, Role.BLANK, "", line)
            else:
                below = self._raw[index + 1] if index + 1 < len(self._raw) else ""
                yield _role_of(number, line, below)

    def _is_code(self, line: str, number: int) -> bool:
        mark = _CODE_FENCE.fullmatch(line)
        if self._fence:
            if mark and mark[1].startswith(self._fence) and not mark[2].strip():
                self._fence, self.open_code_fence = "", None
            return True
        if self.open_comment is None and mark and not (mark[1][0] == "`" and "`" in mark[2]):
            self._fence, self.open_code_fence = mark[1], number
            return True
        return False

    def _is_comment(self, line: str, number: int) -> bool:
        """Whether the line is part of an HTML comment and of nothing else."""
        if self.open_comment is not None:
            if "-->" in line:
                self.open_comment = None
            return True
        bare = line.strip()
        if not bare.startswith("<!--"):
            return False
        if "-->" not in bare:
            self.open_comment = number
            return True
        return bare.endswith("-->")


def _role_of(number: int, line: str, below: str) -> RubricLine:
    found = _KEY.fullmatch(line)
    if found:
        name = _KEY_NAMES[re.sub(r"[_ -]", "", found["key"].casefold())]
        return RubricLine(number, Role.KEY, clean_value(found["value"]), line, key=name)
    heading = _heading(number, line, below)
    if heading is not None:
        return heading
    item = _ITEM.match(line)
    if item and not re.fullmatch(r"\s*(?:[-*_]\s*){3,}", line):
        return RubricLine(number, Role.ITEM, line[item.end() :].strip(), line)
    if _TABLE_ROW.fullmatch(line):
        role = Role.BLANK if _TABLE_RULE.fullmatch(line) else Role.TABLE_ROW
        return RubricLine(number, role, line.strip().strip("|").strip(), line)
    if _TABLE_RULE.fullmatch(line) or re.fullmatch(r"\s*(?:[-*_=]\s*){2,}", line):
        return RubricLine(number, Role.BLANK, "", line)
    return RubricLine(number, Role.PROSE, line.strip(), line)


def _heading(number: int, line: str, below: str) -> RubricLine | None:
    """Markdown's headings; and lines that are none, but bear a title that a section would bear."""
    found = _HEADING.fullmatch(line)
    if found:
        marks, space, title = found.groups()
        title = title.strip().rstrip("#＃").strip()
        section, is_exact = section_of(title)
        is_marked = "＃" not in marks and bool(space.strip("\u3000") or not title)
        if is_marked or section is not None:
            return _heading_line(number, line, title, len(marks), section, is_exact and is_marked)
        return None
    if line.startswith(("    ", "\t")) and line.lstrip().startswith("#"):
        title = line.strip().strip("#").strip()
        section, _ = section_of(title)
        return _heading_line(number, line, title, 2, section, False) if section else None
    if below.strip() and _UNDERLINE.fullmatch(below) and not _ITEM.match(line) and not _TABLE_ROW.fullmatch(line):
        section, is_exact = section_of(line)
        if section is not None:
            return _heading_line(number, line, line.strip(), 2, section, is_exact)
    bold = _BOLD_TITLE.fullmatch(line)
    if bold:
        section, _ = section_of(bold[1])
        return _heading_line(number, line, bold[1].strip(), 7, section, False) if section else None
    return _bare_heading(number, line)


def _bare_heading(number: int, line: str) -> RubricLine | None:
    """A title with nothing but a colon or brackets, by its very name: a judge would take it for a heading."""
    bare = _BARE_TITLE.fullmatch(line)
    if bare is None or _ITEM.match(line):
        return None
    title = (bare[1] or bare[2]).strip()
    section, is_named = section_of(title)
    # "Bonus:" may as well be a line of the facts.
    if not is_named or section not in {Section.CRITICAL, Section.FACTS}:
        return None
    return _heading_line(number, line, title, 7, section, False)


def _heading_line(number: int, raw: str, title: str, level: int, section: Section | None, is_exact: bool) -> RubricLine:
    return RubricLine(number, Role.HEADING, title, raw, level=level, section=section, is_exact=is_exact)
