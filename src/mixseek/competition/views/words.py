"""Points, opinions and expenses of a competition, as the page and the terminal write them."""

from decimal import Decimal

from mixseek.competition.views.board import Expense, TeamView
from mixseek.domain import rounds
from mixseek.reports.accounts import masked_text, usd_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.text.messages import Message, message, verbatim
from mixseek.text.phrases import count_text, plain_number, with_minus


def opinion_text(opinion: rounds.Opinion | None) -> Message:
    """What the judge of progress said, before anybody decided anything."""
    if isinstance(opinion, rounds.ImprovementJudgment):
        confidence = f"{opinion.confidence_score:.2f}"
        if opinion.should_continue:
            return message("race.would_go_on", "would go on, confidence {confidence}", confidence=confidence)
        return message("race.would_stop", "would stop, confidence {confidence}", confidence=confidence)
    if opinion is None:
        return message("race.was_not_asked", "was not asked")
    return message("race.gave_no_opinion", "gave no opinion")


def scale_text(scale: tuple[float, float] | None) -> Message:
    """The scale, for metrics that do not count from 0 to 100."""
    if scale is None:
        return verbatim("")
    return message("compare.range", "{low} to {high}", low=plain_number(scale[0]), high=plain_number(scale[1]))


def points_text(score: float | None) -> str:
    """Two digits; a dash is not nought."""
    return NOTHING if score is None else with_minus(f"{score:z.2f}")


def expense_text(expense: Expense) -> str:
    """Tokens in and out, as far as somebody counted them."""
    counts = (expense.input_tokens, expense.output_tokens)
    if counts == (None, None):
        return NOTHING
    return " / ".join(NOTHING if count is None else count_text(count) for count in counts)


def cost_text(*expenses: Expense) -> Message:
    """The known part with a plus where more was spent; a dash where nothing is known."""
    known = [expense.cost_usd for expense in expenses if expense.cost_usd is not None]
    is_partial = any(expense.is_cost_partial for expense in expenses)
    if not known:
        return message("race.unknown", "unknown") if is_partial else verbatim(NOTHING)
    # By way of text: a float's binary tail is not money.
    amount = usd_text(Decimal(repr(sum(known))))
    return message("race.and_unknown", "{amount} + unknown", amount=amount) if is_partial else verbatim(amount)


def masked_team_text(team: TeamView) -> Message:
    """Empty where no endpoint repeated a key; the team's own model and its judges together."""
    masked = sum(expense.masked_replies for expense in (team.submitting, team.evaluating, team.judging))
    return masked_text(masked) if masked else verbatim("")


def cut_off_team_text(team: TeamView) -> Message:
    """What a team handed in although a limit had ended it; empty where nothing was cut off."""
    count = team.submitting.cut_off_replies
    words = "{n} of its submissions ended at a limit and are cut off; a larger max_tokens lets them end"
    return message("race.cut_off", words, n=count) if count else verbatim("")


APART = message("race.scored_by_their_own_model", "Scored by their own model")
