"""The board as one self-contained page: nothing is fetched, and no submission can break out of its place."""

from typing import Any

from mixseek.analysis.votes.system_board import Board
from mixseek.competition.views.board import LeaderBoard
from mixseek.competition.views.sections import place_sections, round_place, score_curves, team_place
from mixseek.competition.views.words import opinion_text, points_text, scale_text
from mixseek.presentation.pictures import line_style
from mixseek.presentation.sections import Section
from mixseek.reports.excerpts import Excerpt, field_limit
from mixseek.reports.pages.html import asset_text, manifest_entries, render_page
from mixseek.reports.pages.result_page import Chapter, ResultPage, render_result_page
from mixseek.reports.ratings.boards import standing_sections

STYLES = ("tokens.css", "page.css", "summary.css", "scored.css", "leaderboard.css")
SCRIPT = "leaderboard.js"
# Characters of submissions in one file. 16 million open in a browser in about a second; far more do not.
TEXT_BUDGET = 16_000_000


def render_leader_board(board: LeaderBoard, budget: int = TEXT_BUDGET) -> str:
    """The whole file as text that UTF-8 can hold."""
    return render_page("leaderboard.html.j2", STYLES, asset_text(SCRIPT), **leader_board_context(board, budget))


def render_board(board: Board) -> str:
    """Systems that were compared two by two, as a page of their own."""
    strengths = board.strengths
    facts = (
        ("Comparisons", f"{strengths.comparisons:,}"),
        ("Questions", f"{strengths.questions:,}"),
        ("Judges", ", ".join(board.judges)),
    )
    chapter = Chapter("board", "Leader board", tuple(standing_sections(board)))
    return render_result_page(ResultPage(board.source, "leader board", facts, (chapter,)))


def leader_board_context(board: LeaderBoard, budget: int = TEXT_BUDGET) -> dict[str, Any]:
    """What the template shows."""
    curves = score_curves(board)
    limit = field_limit([len(entry.submission) for team in board.teams for entry in team.rounds], budget)
    return {
        "board": board,
        "chart": [Section(None, [curves])] if curves else [],
        "places": list(place_sections(board)),
        "configuration": manifest_entries(board.configuration),
        "excerpt": lambda text: Excerpt(text[:limit], after=max(0, len(text) - limit)),
        "line_style": line_style,
        "team_place": team_place,
        "round_place": round_place,
        "points_text": points_text,
        "scale_text": scale_text,
        "opinion_text": opinion_text,
    }
