"""Shapes in use elsewhere can be declared as they are: here one object per judged file, out of a bundle."""

import json
from pathlib import Path
from typing import Any

import pytest

from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.ports import JudgingProtocol
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol

DATA = Path(__file__).parents[4] / "shared" / "data" / "judge_outputs_promptdrift.jsonl"
DIMENSIONS = ("A_structure", "B_snapshot_constraint", "C_actionability", "D_completeness", "E_drift_failure")
TOML = """
name = "bundled"
version = "1"
kind = "scored"
languages = ["en"]
default_language = "en"
[parameters.dimensions]
A_structure = { title = "Structure" }
B_snapshot_constraint = { title = "Snapshot" }
C_actionability = { title = "Actionable" }
D_completeness = { title = "Complete" }
E_drift_failure = { title = "No drift" }
[parameters.scale]
maximum = 2
[parameters.total]
field = "total"
place = "beside"
# Quotes are looked for and their fate is recorded; none is demanded.
[parameters.evidence]
policy = "present"
form = "map"
minimum_per_dimension = 0
[parameters.identity.fields]
file = { equals = "output_id" }
[parameters.texts]
notes = { required = false }
"""
ENTRY: dict[str, Any] = {
    "file": "q9_short.pdf",
    "scores": dict(zip(DIMENSIONS, (2, 1, 0, 2, 2), strict=True)),
    "total": 7,
    "evidence": dict.fromkeys(DIMENSIONS, ""),
    "notes": "one heading is missing",
}
SAMPLE = Sample("1", "A heading.\nThe body of a text.", output_id="q9_short.pdf")


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> JudgingProtocol:
    path = tmp_path_factory.mktemp("declared") / "bundled.toml"
    path.write_text(TOML, encoding="utf-8")
    return load_protocol(str(path))


def parse(protocol: JudgingProtocol, entry: Any, sample: Sample = SAMPLE) -> ValidJudgment | InvalidJudgment:
    return protocol.parse(Reply(json.dumps(entry, ensure_ascii=False), "j"), sample)


def test_an_entry_of_a_bundle_is_a_reply(bundled: JudgingProtocol) -> None:
    judgment = parse(bundled, {**ENTRY, "evidence": {**ENTRY["evidence"], "A_structure": "A heading."}})

    assert isinstance(judgment, ValidJudgment)
    assert (judgment.score, judgment.fields["total"]) == (0.7, 7)
    assert judgment.fields["evidence"][0]["spans"] == [[0, 10]]


@pytest.mark.parametrize("total", [n for n in range(11) if n != 7])
def test_every_wrong_total_is_found_beside_and_inside(bundled: JudgingProtocol, total: int) -> None:
    inside = {key: value for key, value in ENTRY.items() if key != "total"}
    inside["scores"] = {**ENTRY["scores"], "total": total}
    for entry in ({**ENTRY, "total": total}, inside):
        judgment = parse(bundled, entry)

        assert isinstance(judgment, InvalidJudgment)
        assert any(
            finding.flag is Flag.INTERNAL_INCONSISTENCY and "add up to 7" in finding.detail
            for finding in judgment.findings
        )


def rows() -> list[Any]:
    if not DATA.exists():
        pytest.skip("the shared data are not here")
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def test_collected_bundles_are_valid_but_for_totals_that_do_not_add_up(bundled: JudgingProtocol) -> None:
    """As many as the source counts: missing, in the wrong place, or wrong; and none beside them."""
    for row in rows():
        entries = json.loads(row["raw_output"])["per_file_scores"]
        samples = [Sample("1", "text", output_id=entry["file"]) for entry in entries]
        judgments = [parse(bundled, entry, sample) for entry, sample in zip(entries, samples, strict=True)]
        invalid = [one for one in judgments if isinstance(one, InvalidJudgment)]

        assert len(invalid) == row["parsed_by_source"]["rows_whose_total_is_not_the_sum"]
        assert all("total" in finding.detail for one in invalid for finding in one.findings)


def test_a_total_that_is_changed_in_a_collected_bundle_is_found(bundled: JudgingProtocol) -> None:
    for row in rows():
        for entry in json.loads(row["raw_output"])["per_file_scores"]:
            if "total" in entry:
                judgment = parse(
                    bundled, {**entry, "total": entry["total"] - 1}, Sample("1", "t", output_id=entry["file"])
                )

                assert isinstance(judgment, InvalidJudgment)
                assert Flag.INTERNAL_INCONSISTENCY in {finding.flag for finding in judgment.findings}
