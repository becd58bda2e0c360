"""What a manifest says of a protocol and of a judge."""

import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from mixseek.domain.ports import JudgeProtocol
from mixseek.judges.specs import ChecksJudge, RulesJudge
from mixseek.runs.requests.named import AnyJudge, is_remote, replays_file
from mixseek.storage.journal.manifest import REPLIES_BYTES, REPLIES_SHA256, JudgeEntry, ProtocolEntry


def describe_protocol(protocol: JudgeProtocol) -> ProtocolEntry:
    """What is asked, to the letter."""
    # Only a protocol that is declared in files has some.
    templates = getattr(getattr(protocol, "declaration", None), "templates", {})
    return ProtocolEntry(
        name=protocol.name,
        version=protocol.version,
        language=protocol.language,
        hash=protocol.hash,
        parameters=protocol.parameters,
        prompt_hashes={
            role: hashlib.sha256(template.text.encode()).hexdigest() for role, template in templates.items()
        },
    )


def describe_judge(judge: AnyJudge) -> JudgeEntry:
    """Rules and recorded replies are named by their digest: a run begun by others is another run, not half of this."""
    if is_remote(judge):
        description = dict(judge.description)
        model = description.pop("model", None)
        kind = str(description.pop("provider", judge.name.partition(":")[0]))
        description["fingerprint"] = judge.fingerprint
        return JudgeEntry(name=judge.name, kind=kind, model=model, parameters=description)
    kind = judge.name.partition(":")[0]
    parameters: dict[str, Any] = {}
    if isinstance(judge, RulesJudge):
        # What decides a rules verdict: our own text, and the version of math-verify, or that it was not there.
        maths = judge.maths
        parameters = {"rules_sha256": digest_rules(), "math_verify": None if maths is None else maths.version}
    if isinstance(judge, ChecksJudge):
        parameters = {"rules_sha256": digest_rules("mixseek.checks")}
    if replays_file(judge):
        parameters = {REPLIES_SHA256: judge.sha256, REPLIES_BYTES: judge.length_bytes}
    if getattr(judge, "bundles", False):
        parameters["bundles"] = True
    return JudgeEntry(name=judge.name, kind=kind, parameters=parameters)


@cache
def digest_rules(package: str = "mixseek.matching") -> str:
    """A digest over the text of every module that matches answers, or checks, and of the phrases they look for."""
    room = Path(str(resources.files(package)))
    digest = hashlib.sha256()
    for path in sorted((*room.rglob("*.py"), *room.rglob("*.toml"))):
        digest.update(path.relative_to(room).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
