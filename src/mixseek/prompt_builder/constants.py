"""What is asked unless configured otherwise, in three languages; the Japanese texts are seed 004's, to the letter."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mixseek.settings.marked_text import parse_toml

DEFAULT_LANGUAGE = "ja"

DEFAULT_EVALUATOR_USER_PROMPT = """---
現在日時: {{ current_datetime }}
---

以下のユーザクエリに対するエージェントの提出内容を、あなたの役割に従って評価してください。

# ユーザクエリ
{{ user_query }}

# 提出内容
{{ submission }}
"""

DEFAULT_JUDGMENT_USER_PROMPT = """# タスク
以下の提出履歴に基づいて、チームは次のラウンドに進むべきでしょうか？判定、理由、確信度を提供してください。

# ユーザクエリ
{{ user_prompt }}

# 提出履歴
{{ submission_history }}

# リーダーボード
{{ ranking_table }}
"""

DEFAULT_TEAM_USER_PROMPT = """---
現在日時: {{ current_datetime }}
ラウンド: {{ round_number }}
---

# タスク
以下のユーザクエリに対する提出内容を作成してください。過去の提出がある場合は、そのスコアと評価を踏まえて、より高く評価される提出内容に改善してください。提出内容だけを出力してください。

# ユーザクエリ
{{ user_prompt }}

# 提出履歴
{{ submission_history }}

# リーダーボード
{{ ranking_table }}

{{ team_position_message }}
"""

_WORDING = parse_toml(Path(__file__).with_name("wording.toml").read_bytes().decode())
LANGUAGES: Final = tuple(sorted(_WORDING))
# By language: everything that history, leader board, position and fence say.
PHRASES: Final[Mapping[str, Mapping[str, str]]] = {language: _WORDING[language]["phrases"] for language in LANGUAGES}
# By language, then by field of the settings.
DEFAULT_TEMPLATES: Final[Mapping[str, Mapping[str, str]]] = {
    "ja": {
        "team_user_prompt": DEFAULT_TEAM_USER_PROMPT,
        "evaluator_user_prompt": DEFAULT_EVALUATOR_USER_PROMPT,
        "judgment_user_prompt": DEFAULT_JUDGMENT_USER_PROMPT,
    },
    "en": _WORDING["en"]["templates"],
    "zh": _WORDING["zh"]["templates"],
}

_ROUND_VARIABLES: Final = frozenset(
    ("user_prompt", "round_number", "submission_history", "ranking_table", "team_position_message", "current_datetime")
)
# By field of the settings: what its template may use. `user_prompt` is another name for the query: whoever knows the
# other two templates will write it in the evaluator's.
TEMPLATE_VARIABLES: Final = {
    "team_user_prompt": _ROUND_VARIABLES,
    "evaluator_user_prompt": frozenset({"user_query", "user_prompt", "submission", "current_datetime"}),
    "judgment_user_prompt": _ROUND_VARIABLES,
}
# By field: what its template has to use. A judge who is not shown the submission would still give it a score.
REQUIRED_VARIABLES: Final[Mapping[str, str]] = {"evaluator_user_prompt": "submission"}
# By field: without these the prompt asks about something it does not show; said, but allowed.
EXPECTED_VARIABLES: Final[Mapping[str, frozenset[str]]] = {
    "team_user_prompt": frozenset({"user_prompt"}),
    "evaluator_user_prompt": frozenset({"user_query", "user_prompt"}),
    "judgment_user_prompt": frozenset({"submission_history"}),
}
