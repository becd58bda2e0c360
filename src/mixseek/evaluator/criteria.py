"""What the built-in metrics look at. The points of a metric's criteria sum to 100, so their sum is its score."""

from collections.abc import Mapping
from dataclasses import dataclass

from mixseek.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to look at; `wording` by language."""

    name: str
    points: int
    wording: Mapping[str, str]

    def text(self, language: str) -> str:
        """In that language; criteria of a user have one wording for all."""
        return self.wording.get(language) or next(iter(self.wording.values()))


ROLES: Mapping[str, Mapping[str, str]] = {
    "ClarityCoherence": {
        "en": "You judge how clearly a submission is written and how well its parts hold together. Whether its "
        "content is right is somebody else's question.",
        "ja": "あなたは提出内容の明瞭さと、各部分のまとまりを評価します。内容が正しいかどうかは、ここでは問いません。",
        "zh": "你评价提交内容写得是否清晰、各部分是否连贯。内容是否正确不在此评价之列。",
    },
    "Coverage": {
        "en": "You judge how completely a submission deals with everything that the user query asks for, said or "
        "plainly implied.",
        "ja": "あなたは提出内容が、ユーザクエリの求めていること（明示されたものと、明らかに含意されるもの）を"
        "どれだけ漏れなく扱っているかを評価します。",
        "zh": "你评价提交内容是否完整地处理了用户问题的全部要求，包括明确提出的和显然隐含的。",
    },
    "Relevance": {
        "en": "You judge how closely a submission keeps to what the user query asks for. Text that helps nobody "
        "who asked this is a fault, however well it is written.",
        "ja": "あなたは提出内容がユーザクエリの求めに沿っているかを評価します。質問者の役に立たない文章は、"
        "どれほど上手に書かれていても減点の対象です。",
        "zh": "你评价提交内容是否紧扣用户问题的要求。对提问者没有帮助的文字，写得再好也要扣分。",
    },
    "LLMPlain": {
        "en": "You judge how good a submission is as an answer to the user query.",
        "ja": "あなたは提出内容がユーザクエリへの回答としてどれだけ優れているかを評価します。",
        "zh": "你评价提交内容作为对用户问题的回答有多好。",
    },
}

CRITERIA: Mapping[str, tuple[Criterion, ...]] = {
    "ClarityCoherence": (
        Criterion(
            "structure",
            30,
            {
                "en": "The order of the parts can be followed without going back; headings, lists and paragraphs help.",
                "ja": "読み返さずに構成を追えるか。見出し・箇条書き・段落が理解を助けているか。",
                "zh": "不必回头重读就能跟上结构；标题、列表和段落有助于理解。",
            },
        ),
        Criterion(
            "wording",
            30,
            {
                "en": "Sentences say one thing each, in plain and exact words; terms are explained where needed.",
                "ja": "一文一義で、平易かつ正確な言葉か。必要な用語は説明されているか。",
                "zh": "每句话只说一件事，用词平实而准确；必要的术语有解释。",
            },
        ),
        Criterion(
            "consistency",
            40,
            {
                "en": "No part contradicts another; names, numbers and conclusions agree throughout.",
                "ja": "矛盾がないか。名称・数値・結論が全体で一致しているか。",
                "zh": "各部分互不矛盾；名称、数值和结论前后一致。",
            },
        ),
    ),
    "Coverage": (
        Criterion(
            "requirements",
            50,
            {
                "en": "Each thing that the user query asks for is dealt with; name those that are not.",
                "ja": "ユーザクエリの各要求に応えているか。応えていないものがあれば名指しすること。",
                "zh": "用户问题的每一项要求都得到处理；如有遗漏，请一一指出。",
            },
        ),
        Criterion(
            "depth",
            30,
            {
                "en": "What is dealt with is dealt with far enough to be of use, with reasons, steps or examples.",
                "ja": "扱った事柄が、根拠・手順・例などによって役に立つ深さまで述べられているか。",
                "zh": "所涉及的内容有理由、步骤或例子，深入到足以有用的程度。",
            },
        ),
        Criterion(
            "limits",
            20,
            {
                "en": "Conditions, exceptions and open points that matter to this query are mentioned.",
                "ja": "このクエリにとって重要な条件・例外・未解決の点に触れているか。",
                "zh": "提到了对该问题重要的条件、例外和未解决之处。",
            },
        ),
    ),
    "Relevance": (
        Criterion(
            "answer",
            50,
            {
                "en": "The question that was asked is the question that is answered.",
                "ja": "問われたことに対して答えているか。",
                "zh": "回答的正是所问的问题。",
            },
        ),
        Criterion(
            "focus",
            30,
            {
                "en": "There is nothing that the query did not call for: no padding, no detours, no repetition.",
                "ja": "求められていないもの（水増し・脱線・繰り返し）がないか。",
                "zh": "没有问题未要求的内容：不凑字数、不离题、不重复。",
            },
        ),
        Criterion(
            "fit",
            20,
            {
                "en": "Form, length, language and level suit the query and whoever asked it.",
                "ja": "形式・長さ・言語・水準がクエリと質問者に合っているか。",
                "zh": "形式、长度、语言和水平适合该问题和提问者。",
            },
        ),
    ),
    "LLMPlain": (
        Criterion(
            "quality",
            100,
            {
                "en": "Overall quality as an answer: right, complete, to the point and clear.",
                "ja": "回答としての総合的な質。正確さ・網羅性・的確さ・明瞭さ。",
                "zh": "作为回答的总体质量：正确、完整、切题、清晰。",
            },
        ),
    ),
}


def check_criteria(criteria: tuple[Criterion, ...], where: str) -> tuple[Criterion, ...]:
    """Raises ConfigurationError unless the points sum to 100, which is the scale of every metric."""
    for criterion in criteria:
        if isinstance(criterion.points, bool) or not isinstance(criterion.points, int) or criterion.points < 1:
            raise ConfigurationError(f"{where}: criterion {criterion.name!r} needs whole points of 1 or more")
    total = sum(criterion.points for criterion in criteria)
    if total != 100:
        raise ConfigurationError(f"{where}: the criteria's points sum to {total}, expected 100; adjust them")
    return criteria
