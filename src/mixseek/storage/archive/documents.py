"""What stands in the files of an archive: judgments, the run log of seed 003 §8, and what invalid means."""

import hashlib
import json
import re
import shlex
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from mixseek.domain.judgments import Method, Status
from mixseek.storage.durable import storage_error
from mixseek.storage.journal.journal import damaged, read_lines
from mixseek.storage.journal.manifest import JudgeEntry, Manifest
from mixseek.storage.journal.records import decode_line, make_plain, peek, replace_surrogates

# Where things stand in an archive, under names that every file system takes and keeps apart.

# Seed 003 §6 and §7 name the two rooms.
VALID_ROOM = "有效评测"
INVALID_ROOM = "无效评测"
ROOMS = {"valid": VALID_ROOM, "invalid": INVALID_ROOM}
MARKER = "archive.json"
INDEX = "index.jsonl"
INDEX_TABLE = "index.csv"
SAMPLES = "samples.jsonl"
PROTOCOL = "protocol.json"
RUN_LOG = "run_log.json"
RUN_LOG_TEXT = "run_log.md"
# Seed 003 §9.
PROMPTS = "使用的提示词清单.md"
INVALID_README = f"{INVALID_ROOM}/README.md"
# By these a person finds a file; the hash behind them keeps it apart from all others.
_NAMING_FIELDS = ("question_id", "prompt_variant", "target_model")
_PART_BYTES = 48
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def make_safe(text: str, limit_bytes: int = _PART_BYTES) -> str:
    """Letters and digits of any script, `.`, `_` and `-`; what a file system might decompose is reduced to its base."""
    kept = "".join(_keep(character) for character in unicodedata.normalize("NFC", text))
    kept = kept.encode()[:limit_bytes].decode("utf-8", "ignore").strip("-. ")
    return f"_{kept}" if kept.partition(".")[0].casefold() in _RESERVED else kept


def _keep(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isalnum() or base in "._-" else "-"


class JudgeFolders:
    """A directory for each judge, called like the model that judged; a hash only where two would be one."""

    def __init__(self) -> None:
        self._folders: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def name(self, judge: str, model: str) -> str:
        """The same for the same judge and model; never one that another has, not even where A is a."""
        known = self._folders.get((judge, model))
        if known is not None:
            return known
        name = make_safe(model)
        if not name or name.casefold() in self._taken:
            digest = _digest(f"{judge}\n{model}")[:8]
            name = f"{name or 'judge'}-{digest}"
        self._taken.add(name.casefold())
        self._folders[judge, model] = name
        return name


def name_file(sample: Mapping[str, Any], key: str, judge: str, take: int, attempt: int | None = None) -> str:
    """Question, variant and target, or the output's own name; the take; a hash of all that identifies.

    `attempt` numbers replies that were asked for again; the one that counts has none in its name.
    """
    parts = [make_safe(str(sample[field])) for field in _NAMING_FIELDS if sample.get(field)]
    parts = parts or [make_safe(str(sample.get("output_id") or sample["id"]))]
    readable = [part for part in parts if part] or ["sample"]
    tried = "" if attempt is None else f"_a{attempt}"
    return f"{'_'.join(readable)}_t{take}{tried}_{_digest(f'{key} {take} {judge}{tried}')[:16]}.json"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# A journal read as pairs of sample and judge: dataset order, last outcome, nobody left out.

NOT_JUDGED = "not judged yet: run the same command again"
# The first line of a journal is a sample, never an outcome.
_NOWHERE = 0
# An outcome of a repeat ends so; quotation marks inside a text would be escaped.
_TAKE_AT_END = re.compile(rb'"take":(\d+)}\n?$')


@dataclass(frozen=True, slots=True)
class JudgedTake:
    """One sample before one judge once, as the journal's records say it; None for what is still due."""

    key: str
    sample: dict[str, Any]
    judge: str
    take: int
    outcome: dict[str, Any] | None
    reply: dict[str, Any] | None = None
    # Replies that were invalid and asked for again, in the order of asking.
    earlier: tuple[dict[str, Any], ...] = ()


class JournalPairs:
    """Where each sample, its outcomes and the replies they rest on stand in the file; no text is held.

    About 150 bytes a sample, and 16 more for each judge and take.
    """

    def __init__(self, path: Path, judges: Sequence[str], *, cascade: bool) -> None:
        self._path = path
        self._cascade = cascade
        self._ordinals: dict[bytes, int] = {}
        self._samples = array("q")
        # By judge and take; the first takes in the order of the judges.
        self._outcomes: dict[tuple[str, int], array[int]] = {(judge, 1): array("q") for judge in judges}
        self._replies: dict[tuple[str, int], array[int]] = {}
        # Sparse: only samples that were asked about again.
        self._earlier: dict[tuple[str, int, int], list[int]] = {}
        for offset, line in read_lines(path):
            try:
                self._note(offset, line, *peek(line))
            except (ValueError, KeyError, TypeError) as error:
                raise damaged(path, offset, ValueError(str(error))) from error
        order = list(dict.fromkeys(judge for judge, _ in self._outcomes))
        self._takes = sorted(self._outcomes, key=lambda one: (order.index(one[0]), one[1]))

    def __len__(self) -> int:
        """Samples, not pairs."""
        return len(self._samples)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], str, dict[str, Any] | None]]:
        """Sample, judge and outcome as they stand in the journal; None for an outcome that is still due."""
        return ((one.sample, one.judge, one.outcome) for one in self.takes())

    def takes(self, *, with_replies: bool = False) -> Iterator[JudgedTake]:
        """Every sample before every judge, repeats included; replies are read only where they are wanted."""
        try:
            with self._path.open("rb", buffering=1 << 20) as stream:
                for ordinal, offset in enumerate(self._samples):
                    record = self._read(stream, offset)
                    for judge, take, outcome in self._judged(stream, ordinal):
                        reply = self._reply(stream, judge, take, ordinal) if with_replies and outcome else None
                        places = self._earlier.get((judge, take, ordinal), ()) if with_replies else ()
                        earlier = tuple(self._read(stream, place) for place in places)
                        yield JudgedTake(record["key"], record["sample"], judge, take, outcome, reply, earlier)
        except OSError as error:
            raise storage_error("read the journal", self._path, error) from error

    def _note(self, offset: int, line: bytes, kind: str, key: str, judge: str | None) -> None:
        if kind == "sample":
            packed = bytes.fromhex(key)
            if packed not in self._ordinals:
                self._ordinals[packed] = len(self._samples)
                self._samples.append(offset)
        elif kind in ("outcome", "reply") and judge is not None:
            ordinal = self._ordinals.get(bytes.fromhex(key), -1)
            if ordinal < 0:
                raise ValueError(f"an {kind} before its sample" if kind == "outcome" else "a reply before its sample")
            table = self._outcomes if kind == "outcome" else self._replies
            take = take_of(kind, line)
            offsets = table.setdefault((judge, take), array("q"))
            if len(offsets) <= ordinal:
                offsets.extend([_NOWHERE] * (ordinal + 1 - len(offsets)))
            if kind == "reply" and offsets[ordinal] != _NOWHERE:
                self._earlier.setdefault((judge, take, ordinal), []).append(offsets[ordinal])
            offsets[ordinal] = offset
        else:
            raise ValueError(f"unknown record type {kind!r}")

    def _judged(self, stream: BinaryIO, ordinal: int) -> Iterator[tuple[str, int, dict[str, Any] | None]]:
        decided_by: str | None = None
        for judge, take in self._takes:
            # A cascade asks nobody after a valid judgment.
            if decided_by is not None and judge != decided_by:
                return
            offset = place_of(self._outcomes, judge, take, ordinal)
            if offset == _NOWHERE and take > 1:
                continue
            outcome = None if offset == _NOWHERE else self._read(stream, offset)
            yield judge, take, outcome
            if self._cascade and outcome is not None and outcome["status"] == Status.VALID:
                decided_by = judge

    def _reply(self, stream: BinaryIO, judge: str, take: int, ordinal: int) -> dict[str, Any] | None:
        offset = place_of(self._replies, judge, take, ordinal)
        return None if offset == _NOWHERE else self._read(stream, offset)

    def _read(self, stream: BinaryIO, offset: int) -> dict[str, Any]:
        stream.seek(offset)
        try:
            return decode_line(stream.readline())
        except ValueError as error:
            raise damaged(self._path, offset, error) from error


def place_of(table: dict[tuple[str, int], "array[int]"], judge: str, take: int, ordinal: int) -> int:
    """Where the record stands; nowhere for one that was never written."""
    offsets = table.get((judge, take))
    return offsets[ordinal] if offsets is not None and ordinal < len(offsets) else _NOWHERE


def take_of(kind: str, line: bytes) -> int:
    """The number of the take; a line is parsed only where it could say another than the first."""
    if b'"take":' not in line:
        return 1
    if kind == "outcome" and (found := _TAKE_AT_END.search(line)):
        return int(found.group(1))
    record = decode_line(line)
    return int(record.get("take", 1) if kind == "outcome" else record["details"].get("take", 1))


IDENTITY = ("question_id", "prompt_variant", "target_model", "output_id", "task_name")
_REPLAY = "replay"
_SEMANTIC_FIELDS = ("is_correct", "extracted_answer", "reasoning_score", "error_type", "comment")
_ESCAPE = re.compile(r"\\(?:([bfnrt])(?=[A-Za-z])|.)")
_SPELT = {"b": "\\u0008", "f": "\\u000c", "n": "\\u000a", "r": "\\u000d", "t": "\\u0009"}
# Of what the endpoint said about a reply, what a protocol may look at when it reads the reply again.
_READ_DETAILS = ("judge_model", "finish_reason", "reserialised", "model", "unusable", "bundle")

INVALID_README_TEXT = """# 无效评测

这里的每个文件是一条**不可用**的评测结果，不是一条低分结果。低分属于 `FAIL`，仍在 `有效评测/` 中；
无效评测不进入任何均值，只被计数，并在报告中与有效评测并列。

每个文件的 `flags` 取自以下五个标签，`findings` 说明具体原因，`reply` 是评测者的原始回复，一字未改：

| 标签 | 含义 |
|---|---|
| `PROTOCOL_VIOLATION` | 未按协议输出 JSON，或维度、标尺被更改，或证据在被评测输出中找不到 |
| `UNPARSABLE_OUTPUT` | JSON 语法错误、字段缺失、类型不匹配、无法解析 |
| `INCOMPLETE_COVERAGE` | 样本信息不完整，无法对齐 |
| `JUDGE_REFUSAL_OR_EVASION` | 拒绝评测、不给分、输出与任务无关 |
| `INTERNAL_INCONSISTENCY` | 自相矛盾，例如总分不等于分项之和 |

---

Every file here is a judgment that **cannot be used**; it is not a low one. A low one is a `FAIL` and stands in
`有效评测/`. Invalid judgments enter no mean; they are counted beside the valid ones.

`flags` holds one or more of the five words above, `findings` what exactly is wrong, and `reply` what the judge said,
to the letter. `mixseek archive --check DIR` reads every file again and says which ones no longer are what they claim.
"""


def encode_document(document: Any) -> bytes:
    """Indented for people. A text that UTF-8 cannot hold is escaped, which every JSON reader understands."""
    plain = make_plain(document)
    try:
        return spell_out(json.dumps(plain, ensure_ascii=False, indent=2)).encode() + b"\n"
    except UnicodeEncodeError:
        return spell_out(json.dumps(plain, indent=2)).encode() + b"\n"


def spell_out(text: str) -> str:
    r"""`\u000a` where `\n` stands before a letter: `\nabla` would be read again as LaTeX."""
    return _ESCAPE.sub(lambda found: _SPELT[found[1]] if found[1] else found[0], text)


@dataclass(slots=True)
class AttemptCounts:
    """Of one judge: takes with a reply, those whose first reply was invalid, and replies that were asked for again."""

    takes: int = 0
    first_invalid: int = 0
    asked_again: int = 0

    def add(self, earlier: int, *, is_invalid: bool) -> None:
        """One take: so many invalid replies before the one that counts, and whether that one is invalid too."""
        self.takes += 1
        self.first_invalid += bool(earlier) or is_invalid
        self.asked_again += earlier

    def document(self) -> dict[str, Any]:
        """For programs; no rate where nothing was said."""
        rate = self.first_invalid / self.takes if self.takes else None
        return {**asdict(self), "first_invalid_rate": rate}


def wire_document(judged: "JudgedTake", outcome: Mapping[str, Any], known: str | None) -> Any:
    """A valid judgment as the judge should have written it: the object that was read, repairs done.

    Beside it stand the sample's id and, where the run knows who judged, that name instead of the judge's claim.
    """
    document = said_document(judged, outcome)
    sample_id = judged.sample["id"]
    if replace_surrogates(sample_id) == sample_id:
        document = {"sample_id": sample_id, **document}
    meta = document.get("meta")
    if known is None or not isinstance(meta, Mapping) or "judge_model" not in meta:
        return document
    named = {name: known if name == "judge_model" else value for name, value in meta.items()}
    return {**document, "meta": {**named, "judge_model_claimed": meta["judge_model"]}}


def said_document(judged: "JudgedTake", outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's object in the protocol's wire format."""
    fields = outcome["fields"]
    if isinstance(fields.get("reply"), dict):
        return dict(fields["reply"])
    said = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    if any(name in fields for name in _SEMANTIC_FIELDS):
        # 1 is what the prompt calls a sample whose id it does not tell; an id that no file can hold stays untold.
        sample_id = judged.sample["id"]
        named = sample_id if replace_surrogates(sample_id) == sample_id else 1
        return {"id": named, **{name: fields.get(name) for name in _SEMANTIC_FIELDS}}
    return said or dict(fields)


def decode_object(text: str) -> dict[str, Any]:
    """A reply that is one JSON object and nothing else; empty for any other."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def invalid_document(judged: "JudgedTake", outcome: Mapping[str, Any], known: str | None) -> dict[str, Any]:
    """Who judged what, what is wrong with it, and the raw reply; null where nobody was asked."""
    reply = judged.reply or {"text": None, "attempt": None}
    return {
        "meta": {
            "judge": judged.judge,
            "judge_model": known or label_judge(judged.judge),
            "judge_model_claimed": claimed_model(judged),
            "id": judged.sample["id"],
            **{name: judged.sample.get(name) for name in IDENTITY},
            "take": judged.take,
            "attempt": reply["attempt"],
        },
        "flags": list(dict.fromkeys(item["flag"] for item in outcome["flags"])),
        "findings": [{"flag": item["flag"], "detail": item["detail"]} for item in outcome["flags"]],
        "repairs": list(outcome["repairs"]),
        "reply": reply["text"],
    }


def known_model(judged: "JudgedTake", entry: JudgeEntry | None) -> str | None:
    """Who judged, as the run knows it: the model that was asked, or what was recorded with the reply."""
    if entry is not None and entry.model is not None:
        return entry.model
    named = (judged.reply or {}).get("details", {}).get("judge_model")
    return named if isinstance(named, str) and named.strip() else None


def label_judge(judge: str) -> str:
    """For a judge whose model nobody knows: the stem of its file of replies, or the judge that was picked from it."""
    kind, _, path = judge.partition(":")
    if kind != "replay" or not path:
        return judge
    file, mark, picked = path.rpartition("#")
    return picked if mark and file and picked else PurePath(path).stem or judge


def claimed_model(judged: "JudgedTake") -> str | None:
    """Who the judge says it is, where its reply can be read."""
    said = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    meta = said.get("meta")
    claimed = (meta if isinstance(meta, Mapping) else said).get("judge_model")
    return claimed if isinstance(claimed, str) else None


def read_details(judged: "JudgedTake") -> dict[str, Any]:
    """For reading the reply again as it was read."""
    details = (judged.reply or {}).get("details", {})
    return {name: details[name] for name in _READ_DETAILS if details.get(name) is not None}


def is_ruled(outcome: Mapping[str, Any]) -> bool:
    """Decided without any reply."""
    return bool(outcome.get("method") == Method.RULES)


def run_log(
    manifest: Manifest,
    models: Mapping[str, list[str]],
    counts: Mapping[str, Any],
    attempts: Mapping[str, AttemptCounts],
) -> dict[str, Any]:
    """Seed 003 §8, from the manifest; `models` are names that endpoints gave themselves, or that were recorded."""
    return {
        "run": manifest.run,
        "status": manifest.status,
        "judges": [
            {
                "name": judge.name,
                "kind": judge.kind,
                "model": judge.model,
                "models_answering": models.get(judge.name, []),
                "parameters": judge.parameters,
                "temperature": describe_temperature(judge),
                "attempts": attempts.get(judge.name, AttemptCounts()).document(),
            }
            for judge in manifest.judges
        ],
        "tools_used": manifest.tools_used,
        "network_used": manifest.network_used,
        "time_range": {
            "from": manifest.created_at.isoformat(),
            "to": manifest.finished_at.isoformat() if manifest.finished_at else None,
        },
        "sample_count": manifest.sample_count,
        "counts": counts,
        "repeats": manifest.repeats,
        "cascade": manifest.cascade,
        "protocol": manifest.protocol.model_dump(mode="json"),
        "dataset": dict(manifest.dataset),
        "environment": manifest.environment.model_dump(mode="json"),
    }


def describe_temperature(judge: JudgeEntry) -> float | str | None:
    """As it was sent; in words where it was not, and None for rules, which have none."""
    if judge.kind == Method.RULES:
        return None
    if judge.kind == _REPLAY:
        return "not known: the replies were recorded elsewhere"
    said = judge.parameters.get("temperature")
    if said is None and isinstance(body := judge.parameters.get("body"), Mapping):
        said = body.get("temperature")
    return said if isinstance(said, int | float) else "not sent: the endpoint's default was used"


def describe_run_log(log: Mapping[str, Any]) -> str:
    """The same for a person; `run_log.json` has all of it."""
    protocol, time_range = log["protocol"], log["time_range"]
    lines = [
        f"# 运行日志 Run log: {log['run']}",
        "",
        "| 项目 | 值 |",
        "|---|---|",
        f"| 协议 protocol | {protocol['name']} {protocol['version']} ({protocol['language']}) |",
        f"| 协议哈希 protocol hash | `{protocol['hash']}` |",
        f"| 数据集 dataset | {escape_cell(log['dataset'].get('path'))}, sha256 `{log['dataset'].get('sha256')}` |",
        f"| 样本数量 samples | {log['sample_count']} |",
        f"| 评测时间范围 time range (UTC) | {time_range['from']} – {time_range['to'] or '未结束 not finished'} |",
        f"| 使用工具 tools | {yes_no(log['tools_used'])} |",
        f"| 联网 network | {yes_no(log['network_used'])} |",
        f"| 重复次数 repeats | {log['repeats']} |",
        f"| 状态 status | {log['status']} |",
        "",
        "## 评测者 Judges",
        "",
        "| judge | 模型 model | 应答模型 answering | 解码参数 parameters | 温度 temperature | 有效 valid "
        "| 无效 invalid | 其他 other | 首次无效 first replies invalid |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for judge in log["judges"]:
        counts = dict(log["counts"].get(judge["name"], {}))
        valid, invalid = counts.pop("valid", 0), counts.pop("invalid", 0)
        other = ", ".join(f"{name} {count}" for name, count in counts.items()) or "–"
        parameters = json.dumps(make_plain(judge["parameters"]), ensure_ascii=False) if judge["parameters"] else "–"
        temperature = "–" if judge["temperature"] is None else judge["temperature"]
        cells = (
            judge["name"],
            judge["model"] or "–",
            ", ".join(judge["models_answering"]) or "–",
            parameters,
            temperature,
        )
        first = describe_first(judge["attempts"])
        lines.append(f"| {' | '.join(map(escape_cell, cells))} | {valid} | {invalid} | {other} | {first} |")
    environment = log["environment"]
    command = environment["command"] or shlex.join(environment["command_line"])
    # In a block of its own: a table would fold the spaces that a quoted word may hold.
    lines += ["", "## 命令行 Command", "", *fenced(command, "sh")]
    return "\n".join(lines) + "\n"


def describe_first(attempts: Mapping[str, Any]) -> str:
    """How often the first reply was invalid, whatever came of asking again."""
    if not attempts["takes"]:
        return "–"
    rate, again = attempts["first_invalid_rate"], attempts["asked_again"]
    asked = f"; {again} asked again" if again else ""
    return f"{attempts['first_invalid']} of {attempts['takes']} ({rate:.1%}{asked})"


def describe_prompts(manifest: Manifest, protocol: Mapping[str, Any], methods: Mapping[str, Mapping[str, int]]) -> str:
    """Seed 003 §9: the prompts that judges were given, cross and self, with what they were filled from."""
    entry = manifest.protocol
    lines = [
        f"# 使用的提示词清单 Prompts used: {manifest.run}",
        "",
        f"- 协议 protocol: {entry.name} {entry.version} ({entry.language})",
        f"- 协议哈希 protocol hash: `{entry.hash}`",
        "- cross_judge 与 self_judge 使用同一套模板，方法由评测者与被评测模型推导。Cross and self judging use the same "
        "templates; the method is derived from judge and target.",
        "",
        "| judge | 模型 model | 提示词 prompts | cross_judge | self_judge |",
        "|---|---|---|---|---|",
    ]
    for judge in manifest.judges:
        counts = methods.get(judge.name, {})
        used = {Method.RULES.value: "无 none: rules", _REPLAY: "未知 not known: replies were recorded elsewhere"}
        cells = (judge.name, judge.model or "–", used.get(judge.kind, "下列模板 the templates below"))
        cross, own = counts.get(Method.CROSS_JUDGE, 0), counts.get(Method.SELF_JUDGE, 0)
        lines.append(f"| {' | '.join(map(escape_cell, cells))} | {cross} | {own} |")
    templates = protocol.get("templates", {})
    for role, text in templates.items():
        digest = entry.prompt_hashes.get(role)
        lines += ["", f"## {role}" + (f" (sha256 `{digest}`)" if digest else ""), "", *fenced(str(text), "jinja")]
    parameters = json.dumps(make_plain(protocol.get("parameters", {})), ensure_ascii=False, indent=2)
    lines += ["", "## 参数 Parameters", "", *fenced(parameters, "json")]
    return "\n".join(lines) + "\n"


def fenced(text: str, language: str) -> list[str]:
    """Inside a fence that the text cannot end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text.rstrip("\n"), fence]


def escape_cell(value: Any) -> str:
    """One line without a bar: a file name must not end a table."""
    return " ".join(str(value).split()).replace("|", "\\|")


def yes_no(value: bool) -> str:
    return "是 yes" if value else "否 no"
