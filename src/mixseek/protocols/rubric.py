"""Task rubrics in Markdown, one per task (seed 000): read leniently, as a judge would; linted to the letter.

    ---                                  or, without front matter, among the first lines:
    task_name: tea-ceremony                  task_type: creative
    task_type: creative
    ---
    ## Critical Fail Conditions          any of these makes every score 0
    ## 採点者向け事実情報                   what the judge takes as true
    ### 加点項目 / ### 減点項目             what earns and what costs points

Both functions take any text, never raise, and take linear time.
"""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto

from mixseek.protocols.declaration.declaration import Complaint

# A Markdown task rubric as lines with a role, in one pass: headings, items, keys, and what only looks like one.


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


TASK_TYPES = ("fact", "creative", "speculative")

_FRONT_MATTER_KEYS = ("task_name", "task_type")
# A section that says this says that there is nothing to say.
_NOTHING = frozenset(
    {"none", "n/a", "na", "nothing", "なし", "無し", "特になし", "該当なし", "无", "無", "没有", "-", "—"}
)
# The same in a sentence, about conditions of critical fails: "No conditions are defined." Not "No source is named.",
# which is a condition.
_NO_CONDITIONS = re.compile(
    r"(?:there (?:are|is) )?(?:currently |at present )?(?:no|none|nothing|not|n/?a|nil)(?: (?:such|specific|particular"
    r"|explicit|special|additional|further|any|known|critical|fatal|fail|failure|critical-fail|conditions?|criteria|criterion|rules?"
    r"|items?|are|is|was|were|has|have|been|defined|specified|set|given|listed|stated|applicable|appl(?:y|ies)|exists?"
    r"|required|needed|here|at all|yet|available|provided|for|in|to|this|the|task|rubric|question|section))*"
    r"|(?:critical|fatal)[ -]fail(?:ure)?s?(?: conditions?)? (?:are|is) (?:not (?:defined|specified|applicable)|none)"
    r"|(?:この|本)?(?:タスク|課題|問題|設問)?(?:に|で)?(?:は|、)*(?:クリティカル・?フェイル|致命的な?失敗)?(?:の|と(?:する|なる))?"
    r"(?:条件|項目|事項|該当|該当する(?:条件|項目|もの)|設定|定義|もの)?(?:は|も|が)?(?:特に|とくに|一切)?(?:定義|設定|指定|規定)?"
    r"(?:されて|され|して|を)?(?:なし|無し|ない|ありません|無い|ございません|いない|いません|おりません|設けない|設けません|定めない"
    r"|定めません|存在しない|存在しません)(?:です)?"
    r"|(?:本|此|该|這)?(?:题|題|任务|任務)?(?:暂|目前)?(?:均)?(?:未|没有|沒有|无|無|不|不存在)(?:定义|定義|设定|設定|设置|規定|规定|指定"
    r"|适用|適用|特别|特定|任何|相关|致命|关键|严重|一票否决|失败|失敗|错误|的|条件|條件|项目|項目|规则|要求|内容)*"
)
_REMARK = re.compile(r"\s*(?:[(（#—–/、,]|<!--|\s-\s).*", re.DOTALL)
_SIGNED = re.compile(r"[`*_\[(（]*(?:(?P<plus>[+＋])|(?P<minus>[-−–－]))\d")
_LABELLED = re.compile(
    r"[`*_\[(（【]*(?:(?P<plus>加点|加分|bonus)|(?P<minus>減点|减分|扣分|penalty|deduction))[^:：]{0,12}[:：]",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_PLACEHOLDER = re.compile(r"\{\{[^{}\n]{0,60}\}\}|\{%[^%\n]{0,60}%\}")


@dataclass(frozen=True, slots=True)
class TaskRubric:
    """What a task rubric says beside its prose. `text` is what goes into the prompt, to the letter but for a BOM.

    `task_type` is None where none is named and also where the name is not known: then `unknown_task_type` holds it.
    `may_fail_critically` is False only where the rubric surely lists no conditions: it also speaks of them in prose.
    """

    text: str
    task_name: str | None = None
    task_type: str | None = None
    unknown_task_type: str | None = None
    critical_fail_conditions: tuple[str, ...] = ()
    facts: str | None = None
    bonus: tuple[str, ...] = ()
    penalty: tuple[str, ...] = ()
    may_fail_critically: bool = False


def read_task_rubric(text: str, task_types: Collection[str] = TASK_TYPES) -> TaskRubric:
    """What the rubric says; of two contradicting lines the first counts, and the lint says so."""
    found = split_rubric(text)
    names = [clean_value(line.text) for line in _keys(found, "task_name")]
    types = [line.text for line in _keys(found, "task_type") if line.text]
    known = next((name for text in types if (name := _known_type(text, task_types))), None)
    contents = _contents(found)
    facts = "\n".join(line.raw for line in contents.facts).strip()
    return TaskRubric(
        text=text.removeprefix("\ufeff"),
        task_name=next((name for name in names if name), None),
        task_type=known,
        unknown_task_type=types[0] if types and known is None else None,
        critical_fail_conditions=tuple(contents.critical),
        facts=facts if facts and not _says_nothing(facts) else None,
        bonus=tuple(contents.bonus),
        penalty=tuple(contents.penalty),
        may_fail_critically=bool(contents.critical) or _speaks_of_critical_fails(found),
    )


def lint_task_rubric(text: str, where: str, task_types: Collection[str] = TASK_TYPES) -> list[Complaint]:
    """Everything that would make a judge read the rubric otherwise than it was meant, in the order of lines."""
    found = split_rubric(text)
    if not any(line.role not in {Role.BLANK, Role.FRONT_MATTER} for line in found.lines):
        return [Complaint(where, None, "the rubric is empty", "write down what earns and what costs points")]
    complaints = [
        *_lint_characters(text, where),
        *_lint_open_blocks(found, where),
        *_lint_front_matter(found, where),
        *_lint_task_type(found, where, task_types),
        *_lint_headings(found, where),
        *_lint_criteria(found, where),
    ]
    return sorted(complaints, key=lambda complaint: complaint.line or 0)


@dataclass(slots=True)
class _Contents:
    critical: list[str] = field(default_factory=list)
    facts: list[RubricLine] = field(default_factory=list)
    bonus: list[str] = field(default_factory=list)
    penalty: list[str] = field(default_factory=list)
    criteria: int = 0


def _contents(found: RubricLines) -> _Contents:
    contents = _Contents()
    for section, line in _with_sections(found):
        if line.role in {Role.FRONT_MATTER, Role.KEY, Role.HEADING} and section is not Section.FACTS:
            continue
        _file_line(contents, section, line)
    return contents


def _speaks_of_critical_fails(found: RubricLines) -> bool:
    """Outside a section of that name, which says all there is to say; and otherwise than that there are none."""
    if any(line.section is Section.CRITICAL for line in found.lines):
        return False
    return any(names_critical_fail(line.raw) and not _denies_conditions(line.text) for line in found.lines)


def _denies_conditions(text: str) -> bool:
    """Says that nothing is a critical fail: "none", "No conditions are defined.", なし, 无; also behind a colon."""
    if len(text) > 200:
        return False
    plain = unicodedata.normalize("NFKC", text).casefold().replace("(", " ").replace(")", " ")
    said = [_bare(part) for part in (plain, plain.rpartition(":")[2])]
    return any(one in _NOTHING or _NO_CONDITIONS.fullmatch(one) is not None for one in said if one)


def _bare(text: str) -> str:
    return " ".join(clean_value(text).strip("-*+。.!|、, ").split())


def _file_line(contents: _Contents, section: Section | None, line: RubricLine) -> None:
    if section is Section.FACTS:
        contents.facts.append(line)
        return
    if line.role in {Role.BLANK, Role.CODE} or _says_nothing(line.text):
        return
    if section is Section.CRITICAL and _denies_conditions(line.text):
        return
    if line.role in {Role.ITEM, Role.TABLE_ROW} or section is not None:
        contents.criteria += 1
    if section is Section.CRITICAL:
        _add(contents.critical, line)
    elif section is Section.BONUS:
        _add(contents.bonus, line)
    elif section is Section.PENALTY:
        _add(contents.penalty, line)
    else:
        sign = _SIGNED.match(line.text) or _LABELLED.match(line.text)
        if sign:
            (contents.bonus if sign["plus"] else contents.penalty).append(line.text)


def _add(items: list[str], line: RubricLine) -> None:
    """An item that goes on in the next line is one item; a paragraph without marks is one too."""
    is_continued = line.role is Role.PROSE and line.raw[:1].isspace() and bool(items)
    if is_continued:
        items[-1] = f"{items[-1]} {line.text}"
    else:
        items.append(line.text)


def _with_sections(found: RubricLines) -> Iterator[tuple[Section | None, RubricLine]]:
    """Each line with the named section it stands in; a section ends at a heading of its level or above."""
    section, level = None, 0
    for line in found.lines:
        if line.role is Role.HEADING and (line.section is not None or line.level <= level):
            section, level = line.section, line.level
            # The heading itself is no part of what the section says.
            yield None, line
        else:
            yield section, line


def _keys(found: RubricLines, key: str) -> Iterator[RubricLine]:
    return (line for line in found.lines if line.key is not None and line.key.casefold() == key)


def _known_type(text: str, task_types: Collection[str]) -> str | None:
    """`fact`, `Fact`, `ｆａｃｔ` and `fact (checks facts)` are fact; `fact | creative` is a form not filled in."""
    folded = clean_value(unicodedata.normalize("NFKC", text[:200])).casefold()
    for name in task_types:
        if folded == name:
            return name
        if folded.startswith(name) and _REMARK.fullmatch(folded[len(name) :].lstrip("`*_\"'")):
            return name
    return None


def _says_nothing(text: str) -> bool:
    return len(text) < 20 and clean_value(text).strip("-*+。. ").casefold() in _NOTHING | {""}


def _lint_characters(text: str, where: str) -> Iterator[Complaint]:
    if text.startswith("\ufeff"):
        yield Complaint(where, 1, "the file begins with a byte order mark", "save it as UTF-8 without BOM")
    for number, line in enumerate(text.split("\n"), start=1):
        if control := _CONTROL.search(line):
            what = f"a control character U+{ord(control[0]):04X} stands in the text"
            yield Complaint(where, number, what, "remove it: a judge may read it as anything")
            break
    for number, line in enumerate(text.split("\n"), start=1):
        if placeholder := _PLACEHOLDER.search(line):
            what = f"{placeholder[0]} is not filled in: a rubric is data and is never rendered"
            yield Complaint(where, number, what, "write the text itself", is_hint=True)
            break


def _lint_open_blocks(found: RubricLines, where: str) -> Iterator[Complaint]:
    if found.open_front_matter:
        what = "the front matter that `---` opens is not closed, or holds something other than `key: value`"
        yield Complaint(where, found.open_front_matter, what, "close it with a line `---`")
    if found.open_code_fence:
        what = "a code fence is opened and never closed, so everything below it is code"
        yield Complaint(where, found.open_code_fence, what, "close it with the same marks")
    if found.open_comment:
        what = "a comment is opened and never closed, so everything below it is a comment"
        yield Complaint(where, found.open_comment, what, "close it with -->")


def _lint_front_matter(found: RubricLines, where: str) -> Iterator[Complaint]:
    for line in found.lines:
        if line.role is not Role.FRONT_MATTER or line.text in {"---", "..."} or not line.raw.strip():
            continue
        if "\t" in line.raw:
            yield Complaint(where, line.number, "a tab stands in the front matter", "use spaces")
        if line.key is None:
            if not line.text.startswith("#"):
                yield Complaint(where, line.number, "not `key: value`", "move it below the front matter")
        elif line.key not in _FRONT_MATTER_KEYS:
            close = difflib.get_close_matches(line.key.casefold(), _FRONT_MATTER_KEYS, n=1)
            advice = f"did you mean {close[0]!r}?" if close else "only task_name and task_type are read; move it below"
            yield Complaint(where, line.number, f"unknown key {line.key!r} in the front matter", advice)
        elif not line.text:
            yield Complaint(where, line.number, f"{line.key} is empty", "fill it in or remove the line")


def _lint_task_type(found: RubricLines, where: str, task_types: Collection[str]) -> Iterator[Complaint]:
    given = [line for line in _keys(found, "task_type") if line.key == "task_type"]
    if not given:
        what = "no task_type is named, so the judge infers one"
        yield Complaint(
            where, None, what, f"put `task_type: {' | '.join(task_types)}` at the top to fix it", is_hint=True
        )
        return
    first_section = next(
        (one.number for one in found.lines if one.role is Role.HEADING and one.level > 1 and not names_key(one.text)),
        None,
    )
    for line in given:
        known = _known_type(line.text, task_types)
        if line.text and known is None:
            close = difflib.get_close_matches(line.text[:40].casefold(), task_types, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            yield Complaint(
                where, line.number, f"unknown task_type {line.text[:60]!r}", f"{hint}available: {', '.join(task_types)}"
            )
        elif not line.text and line.role is Role.KEY:
            yield Complaint(where, line.number, "task_type is empty", f"write one of {', '.join(task_types)}")
        if line is given[0] and first_section is not None and line.number > first_section:
            yield Complaint(where, line.number, "task_type stands below the first section", "move it to the top")
    for line in given[1:]:
        first = given[0]
        differs = _known_type(first.text, task_types) != _known_type(line.text, task_types)
        what = f"task_type is given twice: {first.text[:40]!r} on line {first.number}"
        what += f" and {line.text[:40]!r} here" if differs else " and again here"
        yield Complaint(where, line.number, what, "keep one of them")


def _lint_headings(found: RubricLines, where: str) -> Iterator[Complaint]:
    seen: dict[Section, int] = {}
    headings = [line for line in found.lines if line.role is Role.HEADING]
    for line in headings:
        if line.section is None:
            continue
        named = HEADINGS[line.section][0]
        if not line.is_exact:
            what = f"{line.raw.strip()[:60]!r} looks like the section {named!r} and is not written so"
            advice = (
                f"write `## {named}`" if line.section in {Section.CRITICAL, Section.FACTS} else f"write `### {named}`"
            )
            yield Complaint(where, line.number, what, advice)
        # Bonus and penalty items stand once under each dimension; the other two are one list each.
        if line.section in {Section.CRITICAL, Section.FACTS}:
            if line.section in seen:
                what = f"the section {named!r} stands on line {seen[line.section]} and again here"
                yield Complaint(where, line.number, what, "make them one")
            seen.setdefault(line.section, line.number)
    yield from _lint_empty_sections(found, where)


def _lint_empty_sections(found: RubricLines, where: str) -> Iterator[Complaint]:
    """A heading with nothing below it but a heading of its level or above."""
    waiting: RubricLine | None = None
    for line in found.lines:
        if line.role is Role.HEADING:
            if waiting is not None and line.level <= waiting.level:
                yield _empty_section(waiting, where)
            waiting = line
        elif line.role is not Role.BLANK:
            waiting = None
    if waiting is not None and waiting.level > 1:
        yield _empty_section(waiting, where)


def _empty_section(line: RubricLine, where: str) -> Complaint:
    advice = "fill it in, or write `なし` (none) if nothing applies" if line.section else "fill it in or remove it"
    return Complaint(where, line.number, f"the section {line.text[:60]!r} is empty", advice)


def _lint_criteria(found: RubricLines, where: str) -> Iterator[Complaint]:
    if _contents(found).criteria == 0:
        what = "no criterion: no list, no table, no section of what earns or costs points"
        yield Complaint(where, None, what, "add `### 加点項目` and `### 減点項目`, or a list of what is demanded")
