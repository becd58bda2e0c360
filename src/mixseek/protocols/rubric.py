"""Task rubrics in Markdown, one per task (seed 000): read leniently, as a judge would; linted to the letter.

`task_name` and `task_type` stand in front matter or among the first lines; the sections that mean something are those
of `Section`. Both functions take any text, never raise, and take linear time.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum, StrEnum, auto
from itertools import count, zip_longest
from pathlib import Path

from mixseek.errors import suggest
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import Complaint
from mixseek.settings.text_files import parse_toml


class Section(StrEnum):
    """The sections that mean something beyond their text (seed 000)."""

    CRITICAL = "critical"
    FACTS = "facts"
    BONUS = "bonus"
    PENALTY = "penalty"


# What sections and keys are called; the first title of a section is the one that the prompts name.
_WORDS = parse_toml((Path(__file__).parent / "rubric_words.toml").read_text(encoding="utf-8"))
HEADINGS = {section: tuple(_WORDS["headings"][section]) for section in Section}
_LOOK_ALIKES = {section: re.compile(_WORDS["look_alikes"][section]) for section in Section}
_KNOWN_TITLES = {
    unicodedata.normalize("NFKC", title).casefold(): section for section, titles in HEADINGS.items() for title in titles
}
_KEY_NAMES: dict[str, str] = _WORDS["keys"]
_NOTHING = frozenset(_WORDS["nothing"]["words"])
_NO_CONDITIONS = re.compile("|".join(_WORDS["nothing"]["conditions"]))

# A longer title is prose; comparing it further would only cost time.
_MAX_TITLE = 80
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEADING = re.compile(r" {0,3}([#＃]{1,6})([ \t\u3000]*)(.*)")
_BOLD_TITLE = re.compile(r" {0,3}\*\*([^*]{1,80})\*\*[:：]?\s*")
_BARE_TITLE = re.compile(r" {0,3}(?:【([^【】]{1,80})】[:：]?|([^\s【】][^【】]{0,79}?)[:：])\s*")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*)")
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
    """`text` is without markup; `key` is that of a KEY line; `level` and `section` belong to headings.

    `is_exact` is False for a title that only resembles one of HEADINGS or is not marked as Markdown wants it.
    """

    number: int
    role: Role
    text: str
    raw: str
    key: str | None = None
    level: int = 0
    section: Section | None = None
    is_exact: bool = True


class Block(Enum):
    """What can be opened and never closed, with what is said of it then."""

    FRONT_MATTER = (
        "the front matter that `---` opens is not closed, or holds something other than `key: value`",
        "close it with a line `---`",
    )
    CODE = ("a code fence is opened and never closed, so everything below it is code", "close it with the same marks")
    COMMENT = ("a comment is opened and never closed, so everything below it is a comment", "close it with -->")


Lines = Sequence[RubricLine]


def split_rubric(text: str) -> tuple[Lines, Mapping[Block, int]]:
    """Every line with its role, and in which line a block was opened that nothing closes. Linear."""
    raw = _LINE_END.split(text.removeprefix("\ufeff"))
    start, still_open = _front_matter_end(raw)
    front = [_front_matter_line(number, line) for number, line in enumerate(raw[:start], start=1)]
    body = _Body(still_open)
    below = [*raw[start + 1 :], ""]
    rest = [body.line(*numbered) for numbered in zip(count(start + 1), raw[start:], below, strict=False)]
    return [*front, *rest], still_open


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


def _front_matter_end(raw: list[str]) -> tuple[int, dict[Block, int]]:
    """How many lines the front matter takes; a rule `---` that is never repeated opens none."""
    if raw[0].rstrip() != "---":
        return 0, {}
    for index, line in enumerate(raw[1:], start=1):
        if line.rstrip() in {"---", "..."}:
            return index + 1, {}
        if line.strip() and not re.match(r"\s*(?:#|[\w-]{1,60}\s*[:：])|\s*-\s", line):
            break
    return 0, {Block.FRONT_MATTER: 1}


def _front_matter_line(number: int, line: str) -> RubricLine:
    match = re.match(r"\s*([\w-]{1,60})\s*[:：]\s*(.*)", line)
    if match is None or line.lstrip().startswith("#"):
        return RubricLine(number, Role.FRONT_MATTER, line.strip(), line)
    value = re.split(r"\s#", match[2], maxsplit=1)[0]
    return RubricLine(number, Role.FRONT_MATTER, clean_value(value), line, key=match[1])


class _Body:
    """Walks over the lines below the front matter, and notes in `still_open` what is opened and never closed."""

    def __init__(self, still_open: dict[Block, int]) -> None:
        self.still_open = still_open
        self._fence = ""
        self._fence_says = ""
        # The key that a heading or the head of a table names, and in which cell its value is to be found.
        self._awaited: tuple[str, int] | None = None
        self._is_in_section = False

    def line(self, number: int, line: str, below: str) -> RubricLine:
        if self._is_code(line, number):
            return self._code_line(number, line)
        if self._is_comment(line, number) or not line.strip():
            return RubricLine(number, Role.BLANK, "", line)
        return self._with_awaited(_role_of(number, line, below))

    def _code_line(self, number: int, line: str) -> RubricLine:
        """A block of keys at the top of a rubric is read; one inside a section is an example."""
        match = _KEY.fullmatch(line) if self._fence_says in _KEY_BLOCKS and not self._is_in_section else None
        if match is None:
            return RubricLine(number, Role.CODE, line, line)
        value = clean_value(re.split(r"\s#", match["value"], maxsplit=1)[0])
        return RubricLine(number, Role.CODE, value, line, key=_key_named(match["key"]))

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
            self._awaited = next((column for column in named if column[0] == "task_type"), named[0])
        elif awaited and 0 <= awaited[1] < len(cells):
            return replace(line, role=Role.KEY, text=clean_value(cells[awaited[1]]), key=awaited[0])
        return line

    def _is_code(self, line: str, number: int) -> bool:
        mark = _CODE_FENCE.fullmatch(line)
        if Block.CODE in self.still_open:
            if mark and mark[1].startswith(self._fence) and not mark[2].strip():
                del self.still_open[Block.CODE]
            return True
        if Block.COMMENT in self.still_open or not mark or (mark[1][0] == "`" and "`" in mark[2]):
            return False
        self.still_open[Block.CODE] = number
        self._fence, self._fence_says = mark[1], mark[2].strip().casefold()
        return True

    def _is_comment(self, line: str, number: int) -> bool:
        """Whether the line is part of an HTML comment and of nothing else."""
        bare = line.strip()
        if Block.COMMENT not in self.still_open:
            if not bare.startswith("<!--"):
                return False
            if "-->" in bare:
                return bare.endswith("-->")
            self.still_open[Block.COMMENT] = number
        elif "-->" in line:
            del self.still_open[Block.COMMENT]
        return True


def _key_named(written: str) -> str:
    return _KEY_NAMES[re.sub(r"[_ -]", "", written.casefold())]


def _role_of(number: int, line: str, below: str) -> RubricLine:
    if match := _KEY.fullmatch(line):
        return RubricLine(number, Role.KEY, clean_value(match["value"]), line, key=_key_named(match["key"]))
    if heading := _heading(number, line, below):
        return heading
    if (item := _ITEM.match(line)) and not re.fullmatch(r"\s*(?:[-*_]\s*){3,}", line):
        return RubricLine(number, Role.ITEM, line[item.end() :].strip(), line)
    if _TABLE_ROW.fullmatch(line):
        role = Role.BLANK if _TABLE_RULE.fullmatch(line) else Role.TABLE_ROW
        return RubricLine(number, role, line.strip().strip("|").strip(), line)
    if _TABLE_RULE.fullmatch(line) or re.fullmatch(r"\s*(?:[-*_=]\s*){2,}", line):
        return RubricLine(number, Role.BLANK, "", line)
    return RubricLine(number, Role.PROSE, line.strip(), line)


def _heading(number: int, line: str, below: str) -> RubricLine | None:
    """Markdown's headings; and lines that are none, but bear a title that a section would bear."""
    if match := _HEADING.fullmatch(line):
        marks, space, title = match.groups()
        title = title.strip().rstrip("#＃").strip()
        is_marked = "＃" not in marks and bool(space.strip("\u3000") or not title)
        if is_marked or section_of(title)[0] is not None:
            return _heading_line(number, line, title, len(marks), is_marked=is_marked)
        return None
    if line.startswith(("    ", "\t")) and line.lstrip().startswith("#"):
        heading = _heading_line(number, line, line.strip().strip("#").strip(), 2)
        return heading if heading.section else None
    if below.strip() and _UNDERLINE.fullmatch(below) and not _ITEM.match(line) and not _TABLE_ROW.fullmatch(line):
        heading = _heading_line(number, line, line.strip(), 2, is_marked=True)
        if heading.section is not None:
            return heading
    if bold := _BOLD_TITLE.fullmatch(line):
        heading = _heading_line(number, line, bold[1].strip(), 7)
        return heading if heading.section else None
    return _bare_heading(number, line)


def _bare_heading(number: int, line: str) -> RubricLine | None:
    """A title with nothing but a colon or brackets, by its very name: a judge would take it for a heading."""
    bare = _BARE_TITLE.fullmatch(line)
    if bare is None or _ITEM.match(line):
        return None
    title = (bare[1] or bare[2]).strip()
    section, is_named = section_of(title)
    # "Bonus:" may as well be a line of the facts.
    is_heading = is_named and section in {Section.CRITICAL, Section.FACTS}
    return _heading_line(number, line, title, 7) if is_heading else None


def _heading_line(number: int, raw: str, title: str, level: int, *, is_marked: bool = False) -> RubricLine:
    section, is_named = section_of(title)
    return RubricLine(number, Role.HEADING, title, raw, level=level, section=section, is_exact=is_named and is_marked)


TASK_TYPES = ("fact", "creative", "speculative")

_FRONT_MATTER_KEYS = ("task_name", "task_type")
_REMARK = re.compile(r"\s*(?:[(（#—–/、,]|<!--|\s-\s).*", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_PLACEHOLDER = re.compile(r"\{\{[^{}\n]{0,60}\}\}|\{%[^%\n]{0,60}%\}")


@dataclass(frozen=True, slots=True)
class TaskRubric:
    """What a task rubric says beside its prose. `text` is what goes into the prompt, to the letter but for a BOM.

    `unknown_task_type` holds a name that is not known. `may_fail_critically` is False only where the rubric surely
    lists no conditions: it also speaks of them in prose.
    """

    text: str
    task_name: str | None = None
    task_type: str | None = None
    unknown_task_type: str | None = None
    may_fail_critically: bool = False


def read_task_rubric(text: str, task_types: Collection[str] = TASK_TYPES) -> TaskRubric:
    """What the rubric says; of two contradicting lines the first counts, and the lint says so."""
    lines, _ = split_rubric(text)
    names = [clean_value(line.text) for line in _keys(lines, "task_name")]
    types = [line.text for line in _keys(lines, "task_type") if line.text]
    known = next((name for text in types if (name := _known_type(text, task_types))), None)
    return TaskRubric(
        text=text.removeprefix("\ufeff"),
        task_name=next((name for name in names if name), None),
        task_type=known,
        unknown_task_type=types[0] if types and known is None else None,
        may_fail_critically=Section.CRITICAL in _criteria(lines) or _speaks_of_critical_fails(lines),
    )


def lint_task_rubric(text: str, where: str, task_types: Collection[str] = TASK_TYPES) -> list[Complaint]:
    """Everything that would make a judge read the rubric otherwise than it was meant, in the order of lines."""
    lines, still_open = split_rubric(text)
    if all(line.role in {Role.BLANK, Role.FRONT_MATTER} for line in lines):
        return [Complaint(where, None, "the rubric is empty", "write down what earns and what costs points")]
    complaints = [
        *_lint_characters(text, where),
        *(Complaint(where, line, *block.value) for block, line in still_open.items()),
        *_lint_front_matter(lines, where),
        *_lint_task_type(lines, where, task_types),
        *_lint_headings(lines, where),
        *_lint_empty_sections(lines, where),
    ]
    if not list(_criteria(lines)):
        what = "no criterion: no list, no table, no section of what earns or costs points"
        advice = "add `### 加点項目` and `### 減点項目`, or a list of what is demanded"
        complaints.append(Complaint(where, None, what, advice))
    return sorted(complaints, key=lambda complaint: complaint.line or 0)


def _criteria(lines: Lines) -> Iterator[Section | None]:
    """The section of every line that says what earns or costs points; outside of one, only items do."""
    section, level = None, 0
    for line in lines:
        # A section ends at a heading of its level or above.
        if line.role is Role.HEADING and (line.section is not None or line.level <= level):
            section, level = line.section, line.level
        if section is Section.FACTS or line.role not in {Role.ITEM, Role.TABLE_ROW, Role.PROSE}:
            continue
        says_nothing = len(line.text) < 20 and clean_value(line.text).strip("-*+。. ").casefold() in _NOTHING | {""}
        if says_nothing or (section is Section.CRITICAL and _denies_conditions(line.text)):
            continue
        if section is not None or line.role is not Role.PROSE:
            yield section


def _speaks_of_critical_fails(lines: Lines) -> bool:
    """Outside a section of that name, which says all there is to say; and otherwise than that there are none."""
    if any(line.section is Section.CRITICAL for line in lines):
        return False
    naming = _LOOK_ALIKES[Section.CRITICAL]
    return any(naming.search(_folded(line.raw[:1_000])) and not _denies_conditions(line.text) for line in lines)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _denies_conditions(text: str) -> bool:
    """Says that nothing is a critical fail: "none", "No conditions are defined.", なし, 无; also behind a colon."""
    if len(text) > 200:
        return False
    plain = _folded(text).replace("(", " ").replace(")", " ")
    parts = [clean_value(part).strip("-*+。.!|、, ") for part in (plain, plain.rpartition(":")[2])]
    phrases = [" ".join(part.split()) for part in parts]
    return any(phrase in _NOTHING or _NO_CONDITIONS.fullmatch(phrase) is not None for phrase in phrases if phrase)


def _keys(lines: Lines, key: str) -> Iterator[RubricLine]:
    return (line for line in lines if line.key is not None and line.key.casefold() == key)


def _known_type(text: str, task_types: Collection[str]) -> str | None:
    """`fact`, `Fact`, `ｆａｃｔ` and `fact (checks facts)` are fact; `fact | creative` is a form not filled in."""
    folded = clean_value(unicodedata.normalize("NFKC", text[:200])).casefold()
    for name in task_types:
        rest = folded.removeprefix(name).lstrip("`*_\"'")
        if folded == name or (folded.startswith(name) and _REMARK.fullmatch(rest)):
            return name
    return None


def _lint_characters(text: str, where: str) -> Iterator[Complaint]:
    if text.startswith("\ufeff"):
        yield Complaint(where, 1, "the file begins with a byte order mark", "save it as UTF-8 without BOM")
    if control := _CONTROL.search(text):
        what = f"a control character U+{ord(control[0]):04X} stands in the text"
        yield Complaint(where, _line_of(control), what, "remove it: a judge may read it as anything")
    if placeholder := _PLACEHOLDER.search(text):
        what = f"{placeholder[0]} is not filled in: a rubric is data and is never rendered"
        yield Complaint(where, _line_of(placeholder), what, "write the text itself", is_hint=True)


def _line_of(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def _lint_front_matter(lines: Lines, where: str) -> Iterator[Complaint]:
    for line in lines:
        if line.role is not Role.FRONT_MATTER or line.text in {"---", "..."} or not line.raw.strip():
            continue
        if "\t" in line.raw:
            yield Complaint(where, line.number, "a tab stands in the front matter", "use spaces")
        if line.key is None:
            if not line.text.startswith("#"):
                yield Complaint(where, line.number, "not `key: value`", "move it below the front matter")
        elif line.key not in _FRONT_MATTER_KEYS:
            otherwise = "only task_name and task_type are read; move it below"
            advice = suggest(line.key.casefold(), _FRONT_MATTER_KEYS, otherwise)
            yield Complaint(where, line.number, f"unknown key {line.key!r} in the front matter", advice)
        elif not line.text:
            yield Complaint(where, line.number, f"{line.key} is empty", "fill it in or remove the line")


def _lint_task_type(lines: Lines, where: str, task_types: Collection[str]) -> Iterator[Complaint]:
    given = [line for line in _keys(lines, "task_type") if line.key == "task_type"]
    if not given:
        advice = f"put `task_type: {' | '.join(task_types)}` at the top to fix it"
        yield Complaint(where, None, "no task_type is named, so the judge infers one", advice, is_hint=True)
        return
    first, available = given[0], ", ".join(task_types)
    for line in given:
        if line.text and _known_type(line.text, task_types) is None:
            advice = f"{suggest(line.text.casefold(), task_types)} available: {available}".strip()
            yield Complaint(where, line.number, f"unknown task_type {line.text[:60]!r}", advice)
        elif not line.text and line.role is Role.KEY:
            yield Complaint(where, line.number, "task_type is empty", f"write one of {available}")
    headings = (line for line in lines if line.role is Role.HEADING and line.level > 1)
    section = next((line for line in headings if not _KEY_TITLE.fullmatch(line.text[:_MAX_TITLE])), first)
    if first.number > section.number:
        yield Complaint(where, first.number, "task_type stands below the first section", "move it to the top")
    for line in given[1:]:
        differs = _known_type(first.text, task_types) != _known_type(line.text, task_types)
        what = f"task_type is given twice: {first.text[:40]!r} on line {first.number}"
        what += f" and {line.text[:40]!r} here" if differs else " and again here"
        yield Complaint(where, line.number, what, "keep one of them")


def _lint_headings(lines: Lines, where: str) -> Iterator[Complaint]:
    seen: dict[Section, int] = {}
    for line in lines:
        if line.section is None:
            continue
        named = HEADINGS[line.section][0]
        # Bonus and penalty items stand once under each dimension; the other two are one list each.
        is_one_list = line.section in {Section.CRITICAL, Section.FACTS}
        if not line.is_exact:
            what = f"{line.raw.strip()[:60]!r} looks like the section {named!r} and is not written so"
            yield Complaint(where, line.number, what, f"write `{'##' if is_one_list else '###'} {named}`")
        first = seen.setdefault(line.section, line.number)
        if is_one_list and first != line.number:
            what = f"the section {named!r} stands on line {first} and again here"
            yield Complaint(where, line.number, what, "make them one")


def _lint_empty_sections(lines: Lines, where: str) -> Iterator[Complaint]:
    """A heading with nothing below it but a heading of its level or above."""
    spoken = [line for line in lines if line.role is not Role.BLANK]
    for line, below in zip_longest(spoken, spoken[1:]):
        if line.role is not Role.HEADING:
            continue
        if line.level > 1 if below is None else below.role is Role.HEADING and below.level <= line.level:
            advice = (
                "fill it in, or write `なし` (none) if nothing applies" if line.section else "fill it in or remove it"
            )
            yield Complaint(where, line.number, f"the section {line.text[:60]!r} is empty", advice)
