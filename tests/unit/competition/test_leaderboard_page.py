"""The leader board's page: self-contained, closed against submissions, and with everything on it."""

import base64
import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.competition.competition_boards import LAST, NOON, board_of, round_of, team_of
from tests.unit.reports.test_html import HOSTILE, read

from mixseek.competition.views.board import LeaderBoard
from mixseek.competition.views.page import SCRIPT, STYLES, render_leader_board
from mixseek.domain.rounds import ExecutionStatus, ImprovementJudgment, NoOpinion, StopReason, TeamProgress
from mixseek.reports.pages.html import asset_text

ALPHA = team_of("Alpha", [50.0, 80.0, 70.0])
BETA = team_of("Beta", [60.0, None], StopReason.NO_GAIN)
GONE = TeamProgress("gone", "Gone", (), StopReason.TEAM_FAILED, "exit code 1", NOON)
BOARD = board_of(ALPHA, BETA, GONE)


def hostile_board(text: str) -> LeaderBoard:
    """The text wherever somebody else may write."""
    rounds = (
        replace(
            round_of(1, 40.0, submission=text, opinion=ImprovementJudgment(True, text, 0.5)),
            details={
                "metrics": [{"name": text, "score": 40.0, "comment": text}],
                "missing": [{"name": text, "reason": text}],
            },
        ),
        round_of(2, 50.0, submission=text, opinion=NoOpinion(text), decision=LAST),
    )
    team = TeamProgress(text, text, rounds, StopReason.TEAM_FAILED, text, NOON)
    return board_of(team, task=text, execution_id=text, configuration={text: text, "list": [text, {text: [text]}]})


def test_the_page_is_well_formed_and_says_what_it_must() -> None:
    """Winner, places, endings, metrics with remarks, opinions beside decisions, costs, what is missing."""
    page = read(render_leader_board(BOARD))

    assert page.mistakes == []
    for words in (
        "Winner Alpha 80.00 of 100 in round 2 of 3, 20.00 ahead of Beta",
        "1 Alpha 80.00 2 50.00 80.00 70.00 all rounds played 21 / 9 $2.25",
        "2 Beta 60.00 1 60.00 – no gain 14 / 6 $1.50",
        "– Gone – – no submission team failed – –",
        "Gone: exit code 1",
        "clarity × 0.50 80.00 clear enough",
        "coverage missing 503 from the endpoint",
        "The judge of progress would go on, confidence 0.80 there is more in it",
        "The decision stops: all rounds played, decided by the controller",
        "evaluated without a score",
        "Equal best scores: the team that reached it in the earlier round stands first, then by id.",
    ):
        assert words in page.plain_text


def test_every_round_can_be_reached_from_the_table() -> None:
    """Each link has its target."""
    page = read(render_leader_board(BOARD))
    targets = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [attributes["href"] for attributes in page.all("a")]

    assert all(link.startswith("#") and link[1:] in targets for link in links)
    assert {"#team-1-round-3", "#team-2-round-2", "#team-3"} <= set(links)


def test_only_the_leader_and_best_rounds_are_open() -> None:
    """A page of forty teams begins readable."""
    opened = [
        attributes["id"] for attributes in read(render_leader_board(BOARD)).all("details") if "open" in attributes
    ]

    assert opened == ["team-1", "team-1-round-2", "team-2-round-1"]


def test_curves_are_drawn_with_a_title_for_each_point() -> None:
    """Four scored rounds, the best of each team open: once for a desk and once for a telephone."""
    page = read(render_leader_board(BOARD))
    circles = [c for c in page.all("circle") if "cx" in c and c.get("class") in ("dot", "best")]

    assert sorted(circle["class"] for circle in circles) == [*["best"] * 4, *["dot"] * 4]
    assert "Alpha, round 2: 80.00 (best)" in page.plain_text


def test_nothing_is_fetched_and_only_our_blocks_may_run() -> None:
    """By hash; no inline style or handler, which the policy would silently drop."""
    page = read(render_leader_board(BOARD))
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    addresses = [
        attributes[name] for _, attributes in page.elements for name in ("src", "href", "action") if name in attributes
    ]
    names = {name for _, attributes in page.elements for name in attributes}

    assert all(address.startswith(("#", "data:")) for address in addresses)
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256("".join(page.inside(tag)).encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not {name for name in names if name == "style" or name.startswith("on")}
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "</"):
        assert forbidden not in asset_text(SCRIPT)


def test_sheets_use_named_colours_only() -> None:
    """Light and dark are decided in one place."""
    assert "#" not in asset_text(STYLES[-1]).replace("#theme", "")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_in_every_field_changes_nothing_about_the_structure(text: str) -> None:
    """A submission cannot forge a place on the board."""
    page, plain = render_leader_board(hostile_board(text)), render_leader_board(hostile_board("x"))

    page.encode("utf-8")
    # Text in another script stands in a span of its language; a long name may break after an underscore.
    structures = [[tag for tag, _ in read(text).elements if tag not in ("span", "wbr")] for text in (page, plain)]
    assert structures[0] == structures[1]
    assert read(page).mistakes == []


@settings(max_examples=30)
@given(st.text(min_size=1, max_size=60).filter(str.strip))
def test_any_text_leaves_a_page_that_can_be_written(text: str) -> None:
    """Half characters included."""
    assert read(render_leader_board(hostile_board(text)).encode().decode()).mistakes == []


def test_long_submissions_are_cut_to_a_budget_and_say_so() -> None:
    """Short ones are never cut."""
    team = TeamProgress("a", "A", (round_of(1, 1.0, submission="x" * 900), round_of(2, 2.0, submission="short")))
    page = read(render_leader_board(board_of(team), budget=500)).plain_text

    assert "… 405 more characters" in page
    assert "short" in page


def test_a_competition_that_has_only_begun_is_still_a_page() -> None:
    """Nobody has a score, nobody leads."""
    page = read(render_leader_board(board_of(status=ExecutionStatus.RUNNING)))

    assert page.mistakes == []
    assert "No team has a score yet." in page.plain_text
    assert "No team has submitted anything yet." in page.plain_text


def test_while_it_is_played_nobody_has_won() -> None:
    """The leader is only in the lead."""
    page = read(render_leader_board(board_of(ALPHA, status=ExecutionStatus.RUNNING))).plain_text

    assert "In the lead Alpha" in page
    assert "Winner" not in page


def test_text_carries_its_language() -> None:
    """The same code point is drawn differently in Japan and China."""
    page = read(render_leader_board(board_of(replace(ALPHA, team_name="ひかり"), task="俳句を書いてください")))

    assert {"lang": "ja", "dir": "auto"}.items() <= next(
        a for a in page.all("div") if a.get("class") == "board-task"
    ).items()
