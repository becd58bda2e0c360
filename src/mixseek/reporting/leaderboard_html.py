"""A competition as one self-contained page: nothing is fetched, and no submission can break out of its place."""

from decimal import Decimal

from markupsafe import Markup

from mixseek.domain.rounds import ImprovementJudgment, Opinion
from mixseek.reporting.calls import usd_text
from mixseek.reporting.html import asset_text, content_security_policy, manifest_entries, page_environment
from mixseek.reporting.leaderboard import Expense, LeaderBoard
from mixseek.reporting.leaderboard_curves import draw_chart, team_style
from mixseek.reporting.payload import TEXT_BUDGET, Excerpt, field_limit
from mixseek.reporting.visible import replace_unpaired_surrogates
from mixseek.reporting.wording import NOTHING, count_text

STYLES = ("tokens.css", "page.css", "summary.css", "leaderboard.css")
SCRIPT = "leaderboard.js"


def render_leader_board(board: LeaderBoard, budget: int = TEXT_BUDGET) -> str:
    """The whole file as text that UTF-8 can hold."""
    style = "\n".join(asset_text(name) for name in STYLES)
    script = asset_text(SCRIPT)
    limit = field_limit([len(entry.submission) for team in board.teams for entry in team.rounds], budget)

    def excerpt(text: str) -> Excerpt:
        return Excerpt(text[:limit], after=max(0, len(text) - limit))

    page = (
        page_environment()
        .get_template("leaderboard.html.j2")
        .render(
            board=board,
            chart=draw_chart(board),
            configuration=manifest_entries(board.configuration),
            policy=content_security_policy(style, script),
            style=Markup(style),  # noqa: S704 our own asset, read from the package
            script=Markup(script),  # noqa: S704 our own asset, read from the package
            excerpt=excerpt,
            team_style=team_style,
            expense_text=expense_text,
            cost_text=cost_text,
            points_text=points_text,
            opinion_text=opinion_text,
        )
    )
    # Macros leave their line ends before the page begins.
    return replace_unpaired_surrogates(page.lstrip())


def opinion_text(opinion: Opinion | None) -> str:
    """What the judge of progress said, before anybody decided anything."""
    match opinion:
        case None:
            return "was not asked"
        case ImprovementJudgment():
            what = "would go on" if opinion.should_continue else "would stop"
            return f"{what}, confidence {opinion.confidence_score:.2f}"
        case _:
            return "gave no opinion"


def points_text(score: float | None) -> str:
    """Two digits; a dash is not nought."""
    return NOTHING if score is None else f"{score:.2f}"


def expense_text(expense: Expense) -> str:
    """Tokens in and out, as far as somebody counted them."""
    if expense.input_tokens is None and expense.output_tokens is None:
        return NOTHING
    counts = (expense.input_tokens, expense.output_tokens)
    return " / ".join(NOTHING if count is None else count_text(count) for count in counts)


def cost_text(*expenses: Expense) -> str:
    """The known part with a plus where more was spent; a dash where nothing is known."""
    known = [expense.cost_usd for expense in expenses if expense.cost_usd is not None]
    is_partial = any(expense.is_cost_partial for expense in expenses)
    if not known:
        return "unknown" if is_partial else NOTHING
    # By way of text: a float's binary tail is not money.
    amount = usd_text(Decimal(repr(sum(known))))
    return f"{amount} + unknown" if is_partial else amount
