"""What is asked unless configured otherwise, in three languages; the Japanese texts are seed 004's, to the letter."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mixseek.settings.text_files import parse_toml

DEFAULT_LANGUAGE = "ja"

_WORDING = parse_toml(Path(__file__).with_name("wording.toml").read_bytes().decode())
LANGUAGES: Final = tuple(sorted(_WORDING))
# By language: everything that history, leader board, position and fence say.
PHRASES: Final[Mapping[str, Mapping[str, str]]] = {language: _WORDING[language]["phrases"] for language in LANGUAGES}
# By language, then by field of the settings.
DEFAULT_TEMPLATES: Final[Mapping[str, Mapping[str, str]]] = {
    language: _WORDING[language]["templates"] for language in LANGUAGES
}
DEFAULT_TEAM_USER_PROMPT: Final = DEFAULT_TEMPLATES[DEFAULT_LANGUAGE]["team_user_prompt"]
DEFAULT_EVALUATOR_USER_PROMPT: Final = DEFAULT_TEMPLATES[DEFAULT_LANGUAGE]["evaluator_user_prompt"]
DEFAULT_JUDGMENT_USER_PROMPT: Final = DEFAULT_TEMPLATES[DEFAULT_LANGUAGE]["judgment_user_prompt"]

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
