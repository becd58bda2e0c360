"""A Markdown task rubric as lines with a role, in one pass: headings, items, keys, and what only looks like one."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
_KEY_NAME = r"(?P<key>task[_ -]?type|task[_ -]?name|タスク型|タスク種別|タスク名|任务类型|任务名称?)"
_KEY = re.compile(rf"\s{{0,3}}(?:[-*+>#]+\s+)?[`*_\"]*{_KEY_NAME}[`*_\"]*\s*[:：=]\s*(?P<value>.*)", re.IGNORECASE)
# The same as a heading whose text stands below it, and as a cell of a table.
_KEY_TITLE = re.compile(rf"[`*_\"\s]*{_KEY_NAME}[`*_\"\s:：]*", re.IGNORECASE)
# What a fence may say of a block that holds keys; an example of the output is JSON or text.
_KEY_BLOCKS = frozenset({"yaml", "yml", "toml", "ini", "front-matter", "frontmatter"})
_MAX_VALUE = 60
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
        self._fence_says = ""
        # The key that a heading or the head of a table names, and in which cell its value is to be found.
        self._awaited: tuple[str, int] | None = None
        self._is_in_section = False

    def lines(self) -> Iterator[RubricLine]:
        for index in range(self._start, len(self._raw)):
            line, number = self._raw[index], index + 1
            if self._is_code(line, number):
                yield self._code_line(number, line)
            elif self._is_comment(line, number) or not line.strip():
                yield RubricLine(number, Role.BLANK, "", line)
            else:
                below = self._raw[index + 1] if index + 1 < len(self._raw) else ""
                yield self._with_awaited(_role_of(number, line, below))

    def _code_line(self, number: int, line: str) -> RubricLine:
        """A block of keys at the top of a rubric is read; one inside a section is an example."""
        found = _KEY.fullmatch(line) if self._fence_says in _KEY_BLOCKS and not self._is_in_section else None
        if found is None:
            return RubricLine(number, Role.CODE, line, line)
        value = clean_value(re.split(r"\s#", found["value"], maxsplit=1)[0])
        return RubricLine(number, Role.CODE, value, line, key=_key_named(found["key"]))

    def _with_awaited(self, line: RubricLine) -> RubricLine:
        """A value that stands below its key: under a heading, or in a table's column."""
        awaited, self._awaited = self._awaited, None
        if line.role is Role.HEADING:
            self._is_in_section = self._is_in_section or line.section is not None
            title = _KEY_TITLE.fullmatch(line.text[:_MAX_TITLE])
            self._awaited = (_key_named(title["key"]), -1) if title and line.section is None else None
            return line
        if line.role is Role.BLANK:
            self._awaited = awaited
            return line
        if line.role is Role.TABLE_ROW:
            return self._table_row(line, awaited)
        if line.key is not None and not line.text and line.raw.lstrip().startswith("#"):
            self._awaited = (line.key, -1)
        is_value = line.role in {Role.PROSE, Role.ITEM} and len(line.text) <= _MAX_VALUE
        if awaited is None or awaited[1] >= 0 or not is_value:
            return line
        return replace(line, role=Role.KEY, text=clean_value(line.text), key=awaited[0])

    def _table_row(self, line: RubricLine, awaited: tuple[str, int] | None) -> RubricLine:
        cells = [cell.strip() for cell in line.text.split("|")]
        titles = [_KEY_TITLE.fullmatch(cell[:_MAX_TITLE]) for cell in cells]
        first = titles[0]
        if first and len(cells) > 1 and titles[1] is None:
            return replace(line, role=Role.KEY, text=clean_value(cells[1]), key=_key_named(first["key"]))
        named = [(_key_named(title["key"]), place) for place, title in enumerate(titles) if title]
        if named:
            # A rubric is found by its name anyway; the type is what has to be read.
            self._awaited = next((one for one in named if one[0] == "task_type"), named[0])
        elif awaited and 0 <= awaited[1] < len(cells):
            return replace(line, role=Role.KEY, text=clean_value(cells[awaited[1]]), key=awaited[0])
        return line

    def _is_code(self, line: str, number: int) -> bool:
        mark = _CODE_FENCE.fullmatch(line)
        if self._fence:
            if mark and mark[1].startswith(self._fence) and not mark[2].strip():
                self._fence, self.open_code_fence = "", None
            return True
        if self.open_comment is None and mark and not (mark[1][0] == "`" and "`" in mark[2]):
            self._fence, self.open_code_fence = mark[1], number
            self._fence_says = mark[2].strip().casefold()
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


def _key_named(written: str) -> str:
    return _KEY_NAMES[re.sub(r"[_ -]", "", written.casefold())]


def names_key(title: str) -> bool:
    """The heading is a key's, whose value stands below it."""
    return _KEY_TITLE.fullmatch(title[:_MAX_TITLE]) is not None


def _role_of(number: int, line: str, below: str) -> RubricLine:
    found = _KEY.fullmatch(line)
    if found:
        return RubricLine(number, Role.KEY, clean_value(found["value"]), line, key=_key_named(found["key"]))
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
