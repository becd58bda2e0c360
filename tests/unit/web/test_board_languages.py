"""The leader board of a competition in the viewer: every word of ours is in the reader's language."""

import re

import pytest
from tests.unit.competition.competition_boards import NOON, board_of, round_of, team_of
from tests.unit.reports.test_html import read

from mixseek.competition.views.page import leader_board_context
from mixseek.domain.rounds import ExecutionStatus, NoOpinion, StopReason, TeamProgress
from mixseek.web.answers import viewer_environment
from mixseek.web.languages import saying

# What teams, metrics and endpoints are called and say; nobody translates that.
OTHERS = {
    *("mixseek", "race", "haiku", "Write", "Alpha", "Beta", "Gone", "clarity", "clear", "enough", "coverage", "from"),
    *("endpoint", "there", "more", "text", "exit", "code", "rounds", "token", "Token"),
}  # fmt: skip
WORDS = {
    "ja": (
        "優勝 Alpha",
        "全ラウンド終了",
        "向上なし",
        "提出なし",
        "続けるべき",
        "終了：全ラウンド終了（決定：進行役）",
    ),
    "zh": ("优胜者 Alpha", "所有轮次已完成", "没有提升", "没有提交", "建议继续", "停止：所有轮次已完成，由控制器决定"),
}


def page_text(language: str, *teams: TeamProgress, status: ExecutionStatus = ExecutionStatus.FINISHED) -> str:
    with saying(language):
        template = viewer_environment().get_template("leaderboard.html.j2")
        page = template.render(policy="", style="", script="", **leader_board_context(board_of(*teams, status=status)))
    return read(page).plain_text


@pytest.mark.parametrize("language", sorted(WORDS))
def test_a_leader_board_speaks_the_reader_s_language(language: str) -> None:
    gone = TeamProgress("gone", "Gone", (), StopReason.TEAM_FAILED, "exit code 1", NOON)
    text = page_text(language, team_of("Alpha", [50.0, 80.0]), team_of("Beta", [60.0, None], StopReason.NO_GAIN), gone)

    assert [words for words in WORDS[language] if words not in text] == []
    assert set(re.findall(r"[A-Za-z]{4,}", text)) <= OTHERS


@pytest.mark.parametrize("language", sorted(WORDS))
@pytest.mark.parametrize("reason", [None, *StopReason])
def test_every_ending_of_a_team_has_words(language: str, reason: StopReason | None) -> None:
    unasked = (round_of(1, 40.0, opinion=None), round_of(2, 50.0, opinion=NoOpinion("text"), decision=None))
    team = TeamProgress("a", "Alpha", unasked, reason, "", NOON)

    for status in ExecutionStatus:
        assert set(re.findall(r"[A-Za-z]{4,}", page_text(language, team, status=status))) <= OTHERS
    assert set(re.findall(r"[A-Za-z]{4,}", page_text(language))) <= OTHERS
