"""What is asked unless configured otherwise; the evaluator's and the judge's texts are seed 004's, to the letter."""

from typing import Final

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

# `user_prompt` is another name for the query: whoever knows the other two templates will write it here.
EVALUATOR_VARIABLES: Final = frozenset({"user_query", "user_prompt", "submission", "current_datetime"})
ROUND_VARIABLES: Final = frozenset(
    {
        "user_prompt",
        "round_number",
        "submission_history",
        "ranking_table",
        "team_position_message",
        "current_datetime",
    }
)
# By field of the settings: what its template may use.
TEMPLATE_VARIABLES: Final = {
    "team_user_prompt": ROUND_VARIABLES,
    "evaluator_user_prompt": EVALUATOR_VARIABLES,
    "judgment_user_prompt": ROUND_VARIABLES,
}
