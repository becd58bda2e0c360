"""What stands in the files of an archive: judgments, the run log of seed 003 §8, and what invalid means."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mixseek.domain.judgments import Method
from mixseek.storage.manifest import Manifest
from mixseek.storage.records import make_plain, replace_surrogates

if TYPE_CHECKING:
    from mixseek.storage.pairs import JudgedTake

IDENTITY = ("question_id", "prompt_variant", "target_model", "output_id", "task_name")
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


def wire_document(judged: "JudgedTake", outcome: Mapping[str, Any]) -> Any:
    """A valid judgment as the judge should have written it: the object that was read, repairs done."""
    fields = outcome["fields"]
    if isinstance(fields.get("reply"), dict):
        return fields["reply"]
    said = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    if any(name in fields for name in _SEMANTIC_FIELDS):
        # 1 is what the prompt calls a sample whose id it does not tell; an id that no file can hold stays untold.
        sample_id = judged.sample["id"]
        named = sample_id if replace_surrogates(sample_id) == sample_id else 1
        return {"id": said.get("id", named), **{name: fields.get(name) for name in _SEMANTIC_FIELDS}}
    return said or fields


def decode_object(text: str) -> dict[str, Any]:
    """A reply that is one JSON object and nothing else; empty for any other."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def invalid_document(judged: "JudgedTake", outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Who judged what, what is wrong with it, and the raw reply."""
    reply = judged.reply or {"text": None, "attempt": None}
    return {
        "meta": {
            "judge": judged.judge,
            "judge_model": judge_model(judged),
            "id": judged.sample["id"],
            **{name: judged.sample.get(name) for name in IDENTITY},
            "take": judged.take,
        },
        "flags": list(dict.fromkeys(item["flag"] for item in outcome["flags"])),
        "findings": [{"flag": item["flag"], "detail": item["detail"]} for item in outcome["flags"]],
        "repairs": list(outcome["repairs"]),
        "reply": reply["text"],
    }


def judge_model(judged: "JudgedTake") -> str:
    """The model that was recorded, else the judge's own name."""
    named = (judged.reply or {}).get("details", {}).get("judge_model")
    return named if isinstance(named, str) else judged.judge


def read_details(judged: "JudgedTake") -> dict[str, Any]:
    """For reading the reply again as it was read."""
    details = (judged.reply or {}).get("details", {})
    return {name: details[name] for name in _READ_DETAILS if details.get(name) is not None}


def is_ruled(outcome: Mapping[str, Any]) -> bool:
    """Decided without any reply."""
    return bool(outcome.get("method") == Method.RULES)


def run_log(manifest: Manifest, models: Mapping[str, list[str]], counts: Mapping[str, Any]) -> dict[str, Any]:
    """Seed 003 §8, from the manifest; `models` are names that endpoints gave themselves."""
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
        "| judge | 模型 model | 应答模型 answering | 解码参数 parameters | 有效 valid | 无效 invalid | 其他 other |",
        "|---|---|---|---|---|---|---|",
    ]
    for judge in log["judges"]:
        counts = dict(log["counts"].get(judge["name"], {}))
        valid, invalid = counts.pop("valid", 0), counts.pop("invalid", 0)
        other = ", ".join(f"{name} {count}" for name, count in counts.items()) or "–"
        parameters = json.dumps(make_plain(judge["parameters"]), ensure_ascii=False) if judge["parameters"] else "–"
        cells = (judge["name"], judge["model"] or "–", ", ".join(judge["models_answering"]) or "–", parameters)
        lines.append(f"| {' | '.join(map(escape_cell, cells))} | {valid} | {invalid} | {other} |")
    return "\n".join(lines) + "\n"


def escape_cell(value: Any) -> str:
    """One line without a bar: a file name must not end a table."""
    return " ".join(str(value).split()).replace("|", "\\|")


def yes_no(value: bool) -> str:
    return "是 yes" if value else "否 no"
