"""The board as one self-contained page: nothing is fetched, and no submission can break out of its place."""

from typing import Any

from mixseek.analysis.votes.system_board import Board
from mixseek.competition.views.board import LeaderBoard
from mixseek.competition.views.chart import draw_chart, team_style
from mixseek.competition.views.words import (
    APART,
    cost_text,
    expense_text,
    masked_team_text,
    opinion_text,
    points_text,
    scale_text,
)
from mixseek.reports.excerpts import Excerpt, field_limit
from mixseek.reports.pages.html import asset_text, manifest_entries, render_page

STYLES = ("tokens.css", "page.css", "summary.css", "leaderboard.css")
BOARD_STYLES = ("tokens.css", "page.css", "summary.css", "scored.css", "panel.css", "board.css")
SCRIPT = "leaderboard.js"
# Characters of submissions in one file. 16 million open in a browser in about a second; far more do not.
TEXT_BUDGET = 16_000_000


def render_leader_board(board: LeaderBoard, budget: int = TEXT_BUDGET) -> str:
    """The whole file as text that UTF-8 can hold."""
    return render_page("leaderboard.html.j2", STYLES, asset_text(SCRIPT), **leader_board_context(board, budget))


def render_board(board: Board) -> str:
    """Systems that were compared two by two, as a page of their own."""
    return render_page("board_page.html.j2", BOARD_STYLES, asset_text(SCRIPT), board=board)


def leader_board_context(board: LeaderBoard, budget: int = TEXT_BUDGET) -> dict[str, Any]:
    """What the template shows."""
    limit = field_limit([len(entry.submission) for team in board.teams for entry in team.rounds], budget)
    return {
        "board": board,
        "chart": draw_chart(board),
        "configuration": manifest_entries(board.configuration),
        "excerpt": lambda text: Excerpt(text[:limit], after=max(0, len(text) - limit)),
        "team_style": team_style,
        "expense_text": expense_text,
        "masked_team_text": masked_team_text,
        "cost_text": cost_text,
        "points_text": points_text,
        "scale_text": scale_text,
        "apart_title": APART,
        "opinion_text": opinion_text,
    }
