"""`--junit` and `--github-summary`: what build servers read, with hostile texts wherever a text can stand."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.flows.running import mixseek_here, sums, the_one_line, write_jsonl

from mixseek.ci import report as ci
from mixseek.presentation.render import markdown

# Markup of every kind that a page might obey, controls that XML 1.0 forbids, and other directions.
HOSTILE = (
    "]]> <!--x--> &amp; <script>alert(1)</script> <img src=x onerror=y> ![p](http://evil.example/p.png) "
    "[l](javascript:x) @octocat #1 `` ``` ````` | ~~~ \x00\x08\x0b\x1b[31m\ufffe\uffff\u202e\u2028\x85 \n# heading\n"
    "```\n</code></pre></details>\n- [ ] task\n<details open>\n| a | b |\n|---|---|\n"
)


def write_hostile(place: Path) -> tuple[Path, str]:
    """Samples whose every field is hostile, and replies in the same manner: two call them wrong, one is invalid."""
    texts = ("question", "response", "target_model", "task_name", "prompt_variant", "question_id")
    truths = ("seven", "eight", HOSTILE)
    rows = [{"id": f"{HOSTILE}{truth}", "ground_truth": truth, **dict.fromkeys(texts, HOSTILE)} for truth in truths]
    said = {"id": 1, "is_correct": False, "reasoning_score": 2, "error_type": "wrong_logic"}
    reply = json.dumps({**said, "extracted_answer": HOSTILE, "comment": HOSTILE})
    write_jsonl(place / "replies.jsonl", [{"id": row["id"], "reply": reply} for row in rows])
    return write_jsonl(place / "h.jsonl", rows), "replay:replies.jsonl"


def check_junit(path: Path) -> ElementTree.Element:
    """The part of the schema that Jenkins and GitLab rely on: names, order of children, and counts that add up."""
    root = ElementTree.fromstring(path.read_bytes())  # noqa: S314 - our own file

    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        tags = [child.tag for child in suite]
        assert tags == sorted(tags, key=["properties", "testcase", "system-out"].index)
        cases = suite.findall("testcase")
        assert cases
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
        for case in cases:
            assert set(case.attrib) == {"classname", "name", "time"}
            assert [child.tag for child in case] in ([], ["failure"], ["error"])
            assert all(set(child.attrib) == {"message", "type"} and child.text for child in case)
        counts = {"tests": len(cases), "skipped": 0}
        counts |= {f"{tag}s": len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error")}
        assert {name: int(suite.get(name, "")) for name in counts} == counts
        assert float(suite.get("time", "")) >= 0
    for name in ("tests", "failures", "errors"):
        assert int(root.get(name, "")) == sum(int(suite.get(name, "")) for suite in root)
    return root


def outside_code(markdown: str) -> str:
    """What is left of CommonMark when code spans and fenced blocks are taken out, by its own rules."""
    kept, fence = [], None
    for line in markdown.splitlines():
        mark = re.match(r" {0,3}(`{3,})([^`]*)$", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None:
            if mark and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = None
        else:
            kept.append(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    assert fence is None
    return "\n".join(kept)


def test_a_gate_and_each_sample_that_failed_is_a_test_case(tmp_path: Path) -> None:
    """With the reason and the span; a sample that is right or undecided is none."""
    data = write_jsonl(tmp_path / "sums.jsonl", sums(10))
    done = mixseek_here(
        "judge", data, "--fail-under", "99%", "--max-invalid", "5%", "--junit", "j.xml", "--run", "r", cwd=tmp_path
    )
    (suite,) = check_junit(tmp_path / "j.xml")
    cases = {case.get("name", ""): case for case in suite.findall("testcase")}

    assert done.returncode == 1
    assert list(cases) == ["--fail-under", "--max-invalid", "sum-4", "sum-9"]
    assert cases["--max-invalid"].find("failure") is None
    assert "99.00%" in (cases["--fail-under"].findtext("failure") or "")
    said = cases["sum-4"].findtext("failure") or ""
    assert said.startswith("incorrect: answer '10', expected '9'")
    assert "So the answer is ⟦10⟧." in said
    assert {one.get("name"): one.get("value") for one in suite.iter("property")}["samples"] == "10"


def test_a_reply_that_cannot_be_used_is_an_error_with_its_flag(tmp_path: Path) -> None:
    """Not a failure of the answer; a missing one likewise."""
    data = write_jsonl(tmp_path / "sums.jsonl", sums(3))
    write_jsonl(tmp_path / "replies.jsonl", [{"id": "sum-0", "reply": HOSTILE}, {"id": "sum-1", "reply": "{}"}])
    done = mixseek_here("judge", data, "--judge", "replay:replies.jsonl", "--junit", "j.xml", cwd=tmp_path)
    (suite,) = check_junit(tmp_path / "j.xml")
    errors = {case.get("name"): case.find("error") for case in suite.findall("testcase")}
    kinds = {name: found.get("type") for name, found in errors.items() if found is not None}

    assert done.returncode == 4
    assert kinds == {"sum-0": "invalid", "sum-1": "invalid", "sum-2": "missing"}
    assert "UNPARSABLE_OUTPUT" in str(ElementTree.tostring(suite))


def test_hostile_texts_are_inert_in_xml_and_markdown(tmp_path: Path) -> None:
    """Ids, responses, targets, the judge's own words: the XML parses, and nothing of them is Markdown."""
    data, judge = write_hostile(tmp_path)
    summary = tmp_path / "step.md"
    summary.write_text("from the step before\n", encoding="utf-8")
    done = mixseek_here(
        *("judge", data, "--judge", judge, "--junit", "j.xml", "--github-summary", "--fail-under", "50%"),
        cwd=tmp_path,
        env={"GITHUB_STEP_SUMMARY": str(summary)},
    )
    root = check_junit(tmp_path / "j.xml")
    text = summary.read_text(encoding="utf-8")

    assert done.returncode == 1
    assert (root.get("failures"), root.get("errors")) == ("3", "1")
    # Whatever else it holds, one line is one line.
    assert all(line.startswith("mixseek: ") for line in done.stderr.splitlines())
    assert text.startswith("from the step before\n## ❌ mixseek: ")
    assert "@octocat" in text
    plain = outside_code(text)
    assert "The worst 3" in plain
    assert not re.search(r"[<>@|~`\[\]]|(?<![#])#(?!#)", re.sub("^#{2,3} ", "", plain, flags=re.MULTILINE)), plain
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\ufffe\uffff]", text)


@pytest.mark.parametrize("text", ["```\n# x", "a `` b ```` c", "`", "~~~\n<b>\n``````\n@x", "```text\n```\n[x](y)"])
def test_no_text_gets_out_of_its_code(text: str) -> None:
    """Whatever fences it brings along."""
    assert outside_code(markdown.code_block(text)).strip() == ""
    assert outside_code(markdown.code_span(text)).strip() == ""


def test_the_files_are_bounded_and_say_what_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five in the summary; in the XML as many as a build server takes."""
    monkeypatch.setattr("mixseek.ci.build_server.MOST_CASES", 8)
    rows = [{**row, "ground_truth": "2", "response": "x " * 25_000 + "\n\nThe answer is 1."} for row in sums(20)]
    data = write_jsonl(tmp_path / "sums.jsonl", rows)
    mixseek_here("judge", data, "--junit", "j.xml", "--summary-file", "s.md", cwd=tmp_path)
    (suite,) = check_junit(tmp_path / "j.xml")
    text = (tmp_path / "s.md").read_text(encoding="utf-8")

    assert suite.get("tests") == "8"
    assert (suite.findtext("system-out") or "").startswith("12 samples are not listed here")
    assert len(re.findall(r"^\*\*\d\.\*\*", text, re.MULTILINE)) == 5
    assert len(text) < 20_000


def test_report_and_compare_write_them_too(tmp_path: Path) -> None:
    """Of a run that is there; of a comparison the samples that got worse, and whether it is the judge's doing."""
    before, after = sums(10), sums(10)
    after[0] |= {"response": "The answer is 77."}
    for name, rows in (("a", before), ("b", after)):
        mixseek_here("judge", write_jsonl(tmp_path / f"{name}.jsonl", rows), "--run", name, "-q", cwd=tmp_path)
    told = ("--junit", "j.xml", "--summary-file", "s.md")
    reported = mixseek_here("report", "b", "--baseline", "a", "--max-drop", "1%", *told, cwd=tmp_path)
    (suite,) = check_junit(tmp_path / "j.xml")

    assert reported.returncode == 1
    assert [case.get("name") for case in suite.findall("testcase")] == ["--max-drop", "sum-0", "sum-4", "sum-9"]

    compared = mixseek_here("compare", "a", "b", "--max-drop", "50%", *told, cwd=tmp_path)
    (suite,) = check_junit(tmp_path / "j.xml")
    gate, worse = suite.findall("testcase")
    text = (tmp_path / "s.md").read_text(encoding="utf-8")

    assert compared.returncode == 0
    assert gate.find("failure") is None
    assert (worse.findtext("failure") or "").startswith("worse: was 100.0%, is 0.0%")
    assert text.startswith("## ✅ mixseek: `b against a`")
    assert "### The worst one" in text


def test_jobs_share_a_file_and_a_job_that_broke_is_an_error_in_it(tmp_path: Path) -> None:
    """One suite a job, under its name."""
    write_jsonl(tmp_path / "sums.jsonl", sums(5))
    text = 'data = "sums.jsonl"\njunit = "j.xml"\nsummary_file = "s.md"\n[jobs.one]\n[jobs.two]\ndata = "gone.jsonl"\n'
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    done = mixseek_here("run", "job.toml", cwd=tmp_path)
    root = check_junit(tmp_path / "j.xml")
    summary = (tmp_path / "s.md").read_text(encoding="utf-8")

    assert done.returncode == 2
    assert [suite.get("name") for suite in root] == ["one", "two"]
    assert "gone.jsonl: no such file" in (root[1].findtext("testcase/error") or "")
    assert "## ✅ mixseek: `one`" in summary
    assert "## ❌ mixseek: `two`" in summary


def test_a_run_without_gates_and_failures_is_one_test_case_that_passed(tmp_path: Path) -> None:
    """A file without any is taken for a mistake by Jenkins."""
    data = write_jsonl(tmp_path / "sums.jsonl", sums(2))
    mixseek_here("judge", data, "--junit", "j.xml", cwd=tmp_path)
    root = check_junit(tmp_path / "j.xml")

    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "0", "0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--github-summary",), "$GITHUB_STEP_SUMMARY is not set"),
        (("--junit", "no/where.xml"), "no/where.xml: no file can be there"),
        (("--junit", "."), "no file can be there"),
        (("--summary-file", "no/where.md"), "no/where.md: no file can be there"),
        (("--junit", "sums.jsonl"), "sums.jsonl: is there already and holds something else"),
        (("--summary-file", "sums.jsonl"), "sums.jsonl: is there already and holds something else"),
    ],
)
def test_a_place_that_cannot_be_written_is_said_before_anything_is_judged(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    data = write_jsonl(tmp_path / "sums.jsonl", sums(2))
    done = mixseek_here("judge", data, *arguments, cwd=tmp_path, env={"GITHUB_STEP_SUMMARY": ""})

    assert done.returncode == 2
    assert said in the_one_line(done)
    assert not (tmp_path / ".mixseek").exists()


def test_a_slip_in_a_name_never_costs_the_data(tmp_path: Path) -> None:
    """A page replaces a page and nothing else, and an export does not replace what was judged."""
    data = write_jsonl(tmp_path / "sums.jsonl", sums(2))
    before = data.read_bytes()
    assert mixseek_here("judge", data, "--run", "a", cwd=tmp_path).returncode == 0
    for command, to, said in (("report", "--to", "something else"), ("export", "--to", "the data that was judged")):
        done = mixseek_here(command, "a", to, data, cwd=tmp_path)
        assert (done.returncode, said in the_one_line(done)) == (2, True)
        assert data.read_bytes() == before
    for _ in range(2):
        assert mixseek_here("report", "a", "--to", "a.html", cwd=tmp_path).returncode == 0


def test_an_excerpt_of_a_long_response_keeps_its_span(tmp_path: Path) -> None:
    """Also where the place is far behind what is kept of the text."""
    row = {
        "id": "x",
        "question": "?",
        "ground_truth": "3",
        "response": "y " * 90_000 + "The answer is 4. " + "z " * 300,
    }
    mixseek_here("judge", write_jsonl(tmp_path / "long.jsonl", [row]), "--junit", "j.xml", cwd=tmp_path)
    (suite,) = check_junit(tmp_path / "j.xml")

    assert "The answer is ⟦4⟧." in (suite.findtext("testcase/failure") or "")
    assert len(json.dumps(suite.findtext("testcase/failure"))) < 2 * ci._TEXT_CHARACTERS
