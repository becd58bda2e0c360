"""What stands in the files of an archive: judgments, the run log of seed 003 §8, and what invalid means."""

import hashlib
import json
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import PurePath
from typing import Any

from mixseek.domain.judgments import Method, Status
from mixseek.storage.index.run import JudgedTake
from mixseek.storage.journal.manifest import JudgeEntry, Manifest
from mixseek.storage.journal.records import decode_object, make_plain, replace_surrogates

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

    def name(self, judge: str, model: str) -> str:
        """The same for the same judge and model; never one that another has, not even where A is a."""
        if (judge, model) not in self._folders:
            name = make_safe(model)
            if not name or name.casefold() in {taken.casefold() for taken in self._folders.values()}:
                digest = _digest(f"{judge}\n{model}")[:8]
                name = f"{name or 'judge'}-{digest}"
            self._folders[judge, model] = name
        return self._folders[judge, model]


def name_file(sample: Mapping[str, Any], key: str, judge: str, take: int, attempt: int | None = None) -> str:
    """Question, variant, target or the output's own name, take, number of a reply asked for again, a hash of it all."""
    parts = [make_safe(str(sample[name])) for name in _NAMING_FIELDS if sample.get(name)]
    parts = parts or [make_safe(str(sample.get("output_id") or sample["id"]))]
    readable = [part for part in parts if part] or ["sample"]
    tried = "" if attempt is None else f"_a{attempt}"
    return f"{'_'.join(readable)}_t{take}{tried}_{_digest(f'{key} {take} {judge}{tried}')[:16]}.json"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


IDENTITY = ("question_id", "prompt_variant", "target_model", "output_id", "task_name")
_REPLAY = "replay"
_SEMANTIC_FIELDS = ("is_correct", "extracted_answer", "reasoning_score", "error_type", "comment")
_ESCAPE = re.compile(r"\\(?:([bfnrt])(?=[A-Za-z])|.)")
_SPELT = {"b": "\\u0008", "f": "\\u000c", "n": "\\u000a", "r": "\\u000d", "t": "\\u0009"}
# Of what the endpoint said about a reply, what a protocol may look at when it reads the reply again.
_READ_DETAILS = ("judge_model", "finish_reason", "reserialised", "model", "unusable", "bundle", "presentation")


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
class JudgeTally:
    """What is learnt of one judge on the way through the journal."""

    counts: Counter[str] = field(default_factory=Counter)  # by status
    methods: Counter[str] = field(default_factory=Counter)
    models: dict[str, None] = field(default_factory=dict)  # names that the endpoint gave itself
    recorded_models: dict[str, None] = field(default_factory=dict)
    # Takes with a reply, those whose first reply was invalid, and replies that were asked for again.
    takes: int = 0
    first_invalid: int = 0
    asked_again: int = 0

    def add(self, judged: JudgedTake, status: str, method: str | None) -> None:
        """One take: how it ended, who answered, and how often it had to be asked."""
        self.counts[status] += 1
        if method:
            self.methods[method] += 1
        details = (judged.reply or {}).get("details", {})
        for table, name in ((self.models, details.get("model")), (self.recorded_models, details.get("judge_model"))):
            if isinstance(name, str):
                table[name] = None
        if judged.reply is not None:
            self.takes += 1
            self.first_invalid += bool(judged.earlier) or status == Status.INVALID
            self.asked_again += len(judged.earlier)

    def describe(self, judge: JudgeEntry) -> dict[str, Any]:
        """For programs; no rate where nothing was said."""
        return {
            **judge.model_dump(include={"name", "kind", "model"}),
            "models_answering": list(self.models or self.recorded_models),
            "parameters": judge.parameters,
            "temperature": describe_temperature(judge),
            "attempts": {
                **{name: getattr(self, name) for name in ("takes", "first_invalid", "asked_again")},
                "first_invalid_rate": self.first_invalid / self.takes if self.takes else None,
            },
        }


def wire_document(judged: JudgedTake, outcome: Mapping[str, Any], known: str | None) -> Any:
    """The object that was read, repairs done, with the sample's id and, where the run knows it, who judged."""
    document = said_document(judged, outcome)
    sample_id = judged.sample["id"]
    if replace_surrogates(sample_id) == sample_id:
        document = {"sample_id": sample_id, **document}
    meta = document.get("meta")
    if known is None or not isinstance(meta, Mapping) or "judge_model" not in meta:
        return document
    named = {name: known if name == "judge_model" else value for name, value in meta.items()}
    return {**document, "meta": {**named, "judge_model_claimed": meta["judge_model"]}}


def said_document(judged: JudgedTake, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's object in the protocol's wire format."""
    fields = outcome["fields"]
    if judged.shown:
        said = {"verdict": outcome["verdict"], "state": fields.get("state"), "strength": fields.get("strength")}
        return {**said, "replies": {name: reply["text"] for name, reply in judged.shown.items()}}
    if isinstance(fields.get("reply"), dict):
        return dict(fields["reply"])
    said = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    if any(name in fields for name in _SEMANTIC_FIELDS):
        # 1 is what the prompt calls a sample whose id it does not tell; an id that no file can hold stays untold.
        sample_id = judged.sample["id"]
        named = sample_id if replace_surrogates(sample_id) == sample_id else 1
        return {"id": named, **{name: fields.get(name) for name in _SEMANTIC_FIELDS}}
    return said or dict(fields)


def invalid_document(judged: JudgedTake, outcome: Mapping[str, Any], known: str | None) -> dict[str, Any]:
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
        **({"replies": {name: one["text"] for name, one in judged.shown.items()}} if judged.shown else {}),
    }


def known_model(judged: JudgedTake, entry: JudgeEntry | None) -> str | None:
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


def claimed_model(judged: JudgedTake) -> str | None:
    """Who the judge says it is, where its reply can be read."""
    said = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    meta = said.get("meta")
    claimed = (meta if isinstance(meta, Mapping) else said).get("judge_model")
    return claimed if isinstance(claimed, str) else None


def read_details(judged: JudgedTake) -> dict[str, Any]:
    """For reading the reply again as it was read."""
    details = (judged.reply or {}).get("details", {})
    return {name: details[name] for name in _READ_DETAILS if details.get(name) is not None}


def run_log(manifest: Manifest, tallies: Mapping[str, JudgeTally]) -> dict[str, Any]:
    """Seed 003 §8, from the manifest and the journal."""
    copied = manifest.model_dump(mode="json", include={"repeats", "cascade", "protocol", "dataset", "environment"})
    return {
        "run": manifest.run,
        "status": manifest.status,
        "judges": [tallies.get(judge.name, JudgeTally()).describe(judge) for judge in manifest.judges],
        "tools_used": manifest.tools_used,
        "network_used": manifest.network_used,
        "time_range": {
            "from": manifest.created_at.isoformat(),
            "to": manifest.finished_at.isoformat() if manifest.finished_at else None,
        },
        "sample_count": manifest.sample_count,
        "counts": {judge: tally.counts for judge, tally in tallies.items()},
        **{name: copied[name] for name in ("repeats", "cascade", "protocol", "dataset", "environment")},
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
    environment = log["environment"]
    command = environment["command"] or shlex.join(environment["command_line"])
    return render("run_log.md.jinja", log=log, command=command)


def describe_prompts(manifest: Manifest, protocol: Mapping[str, Any], tallies: Mapping[str, JudgeTally]) -> str:
    """Seed 003 §9: the prompts that judges were given, cross and self, with what they were filled from."""
    used = {Method.RULES.value: "无 none: rules", _REPLAY: "未知 not known: replies were recorded elsewhere"}
    methods = {judge.name: tallies.get(judge.name, JudgeTally()).methods for judge in manifest.judges}
    return render("prompts.md.jinja", manifest=manifest, used=used, methods=methods, given=protocol)


def render(name: str, **values: Any) -> str:
    """A document of the archive, from the template beside this file."""
    text = resources.files("mixseek.storage.archive").joinpath(name).read_text(encoding="utf-8")
    # Late: nothing else here needs it.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, in which nothing is to be escaped as HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"cell": escape_cell, "fenced": fenced, "json": plain_json}
    return environment.from_string(text).render(values)


def plain_json(value: Any, indent: int | None = None) -> str:
    """For reading, whatever script it is in."""
    return json.dumps(make_plain(value), ensure_ascii=False, indent=indent)


def fenced(text: str, language: str) -> str:
    """Inside a fence that the text cannot end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}{language}", text.rstrip("\n"), fence))


def escape_cell(value: Any) -> str:
    """One line without a bar: a file name must not end a table."""
    return " ".join(str(value).split()).replace("|", "\\|")
