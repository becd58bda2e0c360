"""`mixseek audit` against judges of which the truth is known: each defect is found, and a sound judge is left alone."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.flows.live import KEYS
from tests.flows.loopback import Loopback, loopback
from tests.flows.pages import check_page, read_page
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

import mixseek
from mixseek.audits.variants.texts import injections
from mixseek.errors import ConfigurationError
from mixseek.testing.mock_server import MockOptions
from mixseek.testing.reading_mock import Defect

# Which audit finds which defect; `position` is of pairs, `drifting` needs an earlier card.
FOUND_BY = {
    Defect.LENGTH: "padding",
    Defect.SELF: "name",
    Defect.FORMAT: "format",
    Defect.LENIENT: "lenient",
    Defect.NOISY: "retest",
    Defect.OBEYS_INJECTION: "injection",
}


ASKED = ("--protocol", "cross", "--language", "en", "--n", "20")


def bridges(count: int) -> list[dict[str, Any]]:
    """What a mock that reads can judge: a question with four numbers, and a response with half of them."""
    rows = []
    for n in range(count):
        length, year, piers, trains = 100 + 7 * n, 1850 + n, 20 + n, 3 + n % 5
        told = f"The bridge is {length} metres long. It was opened in {year}. That is all that the register has."
        rows.append(
            {
                "id": f"bridge-{n}",
                "question_id": f"q{n}",
                "question": f"Describe bridge: length {length}, year {year}, piers {piers}, trains {trains}.",
                "response": told,
                "prompt_variant": "v1",
                "target_model": "writer-1",
                "output_id": f"o{n}",
                # What the mock says of it without a defect, on the scale of the protocol.
                "label": 4,
            }
        )
    return rows


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("audit")
    write_jsonl(directory / "bridges.jsonl", bridges(20))
    return directory


def audit(endpoint: Loopback, place: Path, workspace: str, *more: str) -> subprocess.CompletedProcess[str]:
    return mixseek_here(
        "audit", "bridges.jsonl", "--judge", endpoint.spec, *ASKED, "-w", workspace, "-q", *more, cwd=place, env=KEYS
    )


def states(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return {one["audit"]: one["state"] for one in json.loads(done.stdout)["findings"]}


@pytest.mark.parametrize(("defect", "found_by"), FOUND_BY.items(), ids=str)
def test_a_defect_is_found_by_the_audit_that_looks_for_it(place: Path, defect: Defect, found_by: str) -> None:
    """Exit 1, with the audit named and a sample to open."""
    with loopback(MockOptions(defect=defect, defect_size=0.4)) as endpoint:
        done = audit(endpoint, place, f"w-{defect}", "--only", found_by)

    assert done.returncode == 1, done.stderr
    assert f"failed {found_by}".replace("retest", "test–retest") in the_one_line(done)
    assert "mixseek show audit-bridges-cross-" in done.stdout
    assert "fail" in done.stdout


def test_a_sound_judge_passes_every_audit_and_its_card_opens_the_gate(place: Path) -> None:
    """The cost is told first, nothing is asked twice, the card fits this judge and no other, and it shows drift."""
    out = ("--to", "card.html", "--to", "card.json")
    with loopback(MockOptions(defect=Defect.NONE)) as endpoint:
        dry = audit(endpoint, place, "ws", "--dry-run", "--json")
        assert endpoint.requests == 0
        done = audit(endpoint, place, "ws", "--json", *out)
        asked = endpoint.requests
        again = audit(endpoint, place, "ws", "--json")
        assert endpoint.requests == asked
        judged = ("judge", "bridges.jsonl", "--protocol", "cross", "--language", "en", "-w", "ws", "-q")
        gated = (*judged, "--judge", endpoint.spec, "--require-card", "card.json")
        allowed = mixseek_here(*gated, cwd=place, env=KEYS)
        others = [
            mixseek_here(*gated, *more, cwd=place, env=KEYS)
            for more in (("--parameter", "evidence.policy=present"), ("--card-max-age", "0"))
        ]
        # The plain texts were paid for by the audit.
        assert endpoint.requests == asked
        card = mixseek.Card.model_validate_json((place / "card.json").read_text())
        endpoint.server.options = MockOptions(defect=Defect.DRIFTING, defect_size=0.2)
        drifted = audit(endpoint, place, "ws", "--json", "--since", "card.json", "--only", "drift", *out[2:])
        refused = mixseek_here(*gated, cwd=place, env=KEYS)
        with pytest.raises(mixseek.GateError, match="failed drift"):
            mixseek.judge(
                str(place / "bridges.jsonl"), judges=endpoint.spec, protocol="cross", language="en", progress=False,
                workspace=place / "ws", require_card=place / "card.json", parameters=None,
            )  # fmt: skip

    assert done.returncode == 0, done.stdout
    assert sum(run["calls"] for run in json.loads(dry.stdout)["runs"]) == asked
    assert json.loads(again.stdout) == json.loads(done.stdout)
    skipped = {name for name, state in states(done).items() if state == "not applicable"}
    assert skipped == {"order", "own", "drift", "rescaled"}
    assert {state for name, state in states(done).items() if name not in skipped} == {"pass"}
    assert card.ok
    assert card.samples == 20
    assert "test–retest" in str(card)
    page = (place / "card.html").read_text()
    assert "Content-Security-Policy" in page
    assert endpoint.spec in page
    assert allowed.returncode == 0, allowed.stderr
    assert [one.returncode for one in others] == [1, 1]
    assert "no longer fits (protocol hash" in the_one_line(others[0])
    assert "older than 0 days" in the_one_line(others[1])
    assert (drifted.returncode, states(drifted)) == (1, {"drift": "fail"})
    assert refused.returncode == 1
    assert "failed drift" in the_one_line(refused)


def test_every_look_for_drift_has_a_name_of_its_own(place: Path) -> None:
    """The same command goes on with the same look, and says so; under another name the judge is asked again."""
    since = ("--since", "first.json", "--only", "drift", "--json")
    with loopback(MockOptions(defect=Defect.NONE)) as endpoint:
        audit(endpoint, place, "w-looks", "--only", "retest", "--to", "first.json")
        endpoint.server.options = MockOptions(defect=Defect.DRIFTING, defect_size=0.4)
        drifted = audit(endpoint, place, "w-looks", *since)
        asked, endpoint.server.options = endpoint.requests, MockOptions(defect=Defect.NONE)
        same = mixseek_here(
            "audit", "bridges.jsonl", "--judge", endpoint.spec, *ASKED, "-w", "w-looks", *since, cwd=place, env=KEYS
        )
        assert endpoint.requests == asked
        later = audit(endpoint, place, "w-looks", *since, "--run", "later")

    assert (drifted.returncode, states(drifted), drifted.stderr.count("a new one")) == (1, {"drift": "fail"}, 0)
    assert (same.returncode, states(same)) == (1, {"drift": "fail"})
    assert "for a new one, give it a name (--run)" in same.stderr
    assert (later.returncode, states(later)) == (0, {"drift": "pass"}), later.stderr


def test_a_judge_that_follows_the_order_of_a_pair_is_found(place: Path) -> None:
    """Both orders are asked by the protocol itself; a changed text is the first response's."""
    other = {"response_b": "There is a bridge.", "label": "A"}
    rows = [
        {"id": row["id"], "question": row["question"], "response_a": row["response"], **other} for row in bridges(20)
    ]
    write_jsonl(place / "pairs.jsonl", rows)
    # The same as single outputs, of which --pairs makes pairs: the wordy one is A or B by lot.
    singles = [
        {"id": f"{row['id']}-{who}", "question": row["question"], "response": row[f"response_{side}"], "model": who}
        for row in rows
        for side, who in (("a", "wordy"), ("b", "terse"))
    ]
    write_jsonl(place / "singles.jsonl", singles)
    told = {}
    for defect in (Defect.NONE, Defect.POSITION):
        with loopback(MockOptions(defect=defect, defect_size=0.6)) as endpoint:
            only = ("--only", "order", "--only", "padding", "--only", "lenient")
            asked = ("pairs.jsonl", "--protocol", "pairwise", *only)
            told[defect] = mixseek_here(
                "audit",
                *asked,
                "--judge",
                endpoint.spec,
                "--n",
                "20",
                "-w",
                f"w-{defect}",
                "-q",
                "--json",
                cwd=place,
                env=KEYS,
            )
            made = ("singles.jsonl", "--pairs", "all", "--protocol", "pairwise", "--only", "order")
            paired = mixseek_here(
                "audit", *made, "--judge", endpoint.spec, "-w", "w-made", "-q", "--json", cwd=place, env=KEYS
            )

    # People prefer A in each of them, which says nothing about how good A is.
    assert states(told[Defect.NONE]) == {"order": "pass", "padding": "pass", "lenient": "not applicable"}
    assert states(told[Defect.POSITION])["order"] == "fail"
    assert states(paired) == {"order": "fail"}
    assert json.loads(paired.stdout)["samples"] == 20


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--only", "paddin"), "--only 'paddin': did you mean 'padding'?"),
        (("--to", "card.pdf"), "name a .html or a .json file"),
        (("--since", "bridges.jsonl"), "not a judge card"),
        (("--rubric", "nowhere.md"), "nowhere.md"),
    ],
)
def test_a_slip_is_one_clear_line(place: Path, more: tuple[str, ...], words: str) -> None:
    """Exit 2, before anything is judged."""
    done = mixseek_here("audit", "bridges.jsonl", "--judge", "rules", "--map", "ground_truth=id", *more, cwd=place)

    assert done.returncode == 2
    assert words in the_one_line(done)


def test_the_page_runs_as_written(tmp_path: Path) -> None:
    """With the judge that the page says is served there."""
    with loopback(MockOptions(defect=Defect.LENGTH)) as endpoint:
        compared = check_page(
            read_page("docs/judge-cards.md"), tmp_path, {"http://localhost:8000/v1": endpoint.base_url}
        )

    assert compared == 3


# Judges that are functions.


def short_answers(count: int) -> list[dict[str, Any]]:
    """Wrong by what people say, and all of them shorter than a judge may like."""
    return [
        {
            "id": f"a{n}",
            "question": f"Sum {n}?",
            "response": f"It is {n}. " + "Well. " * (n % 5),
            "ground_truth": str(n),
        }
        for n in range(count)
    ]


def verdict_of(sample: mixseek.Sample, *, is_correct: bool) -> dict[str, Any]:
    score, error, answer = (4, "none", sample.ground_truth) if is_correct else (2, "wrong_logic", "It")
    return {
        "id": sample.id, "is_correct": is_correct, "extracted_answer": answer, "reasoning_score": score,
        "error_type": error, "comment": "-",
    }  # fmt: skip


def likes_length(sample: mixseek.Sample) -> dict[str, Any]:
    return verdict_of(sample, is_correct=len(sample.response) > 60)


def obeys(sample: mixseek.Sample) -> dict[str, Any]:
    return verdict_of(sample, is_correct=any(order in sample.response for _, order in injections()))


def likes_its_name(sample: mixseek.Sample) -> dict[str, Any]:
    return verdict_of(sample, is_correct="gpt-5-mini" in sample.response)


def test_a_judge_that_loves_length_is_not_called_obedient() -> None:
    """Any line lifts its verdicts, an order no more than neutral text; one that obeys is found as before."""
    only = ["padding", "injection"]
    long_winded = mixseek.audit(likes_length, short_answers(40), only=only, n=40, progress=False)
    obedient = mixseek.audit(obeys, short_answers(40), only=only, n=40, progress=False)

    assert {one.audit.value: one.state.value for one in long_winded.findings} == {
        "padding": "fail",
        "injection": "pass",
    }
    assert {one.audit.value: one.state.value for one in obedient.findings} == {"padding": "pass", "injection": "fail"}


def test_the_name_that_a_function_may_favour_is_told_to_the_audit() -> None:
    rows = short_answers(40)
    (unnamed,) = mixseek.audit(likes_its_name, rows, only="name", n=40, progress=False).findings
    (named,) = mixseek.audit(likes_its_name, rows, only="name", n=40, own_name="gpt-5-mini", progress=False).findings

    assert unnamed.state.value == "not applicable"
    assert unnamed.reason == "the judge names no model: own_name (--own-name) says whose name it may favour"
    assert named.state.value == "fail"
    with pytest.raises(ConfigurationError, match="own_name"):
        mixseek.audit(likes_its_name, rows, only="name", n=40, own_name=" ", progress=False)
