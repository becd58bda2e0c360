"""A refusal and an endpoint's error are told from other prose."""

import time

import pytest
from tests.cases import each

from mixseek.domain.judgments import Flag
from mixseek.protocols.replies.repairs import ReplyMode
from mixseek.protocols.replies.reply_reader import read_reply

REFUSALS = [
    "I am sorry, but I cannot evaluate this.",
    "I'm sorry, but I can’t assist with that request.",
    "Sorry, I can't help with judging this content.",
    "I cannot determine whether the response is correct.",
    "I'm unable to provide a score for this response.",
    "I am not able to assess this.",
    "I must respectfully decline to grade this answer.",
    "I won't judge this response.",
    "As an AI language model, I do not have opinions on answers.",
    "\"I'm sorry, I can't do that.\"",
    "<think>Should I?</think>I refuse to rate harmful content.",
    "申し訳ありませんが、この内容を評価することはできません。",
    "申し訳ございませんが、採点いたしかねます。",
    "この応答の評価はできません。",
    "その質問にはお答えできかねます。",
    "抱歉，我无法评估这个回答。",
    "很遗憾，我不能对该内容进行打分。",
    "對不起，我無法協助評分。",
    "我无法判断该回答是否正确。",
    "Unable to evaluate the response.",
    "Evaluation declined.",
    "No score can be given.",
    "I'm not comfortable scoring this.",
    "I am not going to grade this.",
    "I'd rather not evaluate this.",
    "I don't feel comfortable judging that text.",
    "It would not be appropriate for me to evaluate this.",
    "My guidelines prevent me from grading this.",
    "ご依頼にはお応えできません。",
    "当モデルは評価を行えません。",
    "採点はお引き受けできません。",
    "この文章の評価を差し控えさせていただきます。",
    "採点を拒否します。",
    "点数を付けることはできません。",
    "判定不能です。",
    "无法评测该输出。",
    "该内容无法评分。",
    "拒绝评测。",
    "本模型不能对此打分。",
    "内容涉及敏感信息，无法给出评分。",
    "评估無法進行。",
    "我没有能力评测这个输出。",
    "很抱歉，这个请求我帮不了你。",
]

PROSE = [
    "The model refuses to answer, so it is incorrect.",
    'The response says "I am sorry, but I cannot help with that", which is no answer.',
    "応答は「申し訳ありませんが、回答できません」と述べており、不正解です。",
    "回答说“抱歉，我无法回答”，因此判为错误。",
    "I can't fault the reasoning: correct.",
    "says 'GRADE: C'. My verdict: wrong.",
    "Yes, the candidate is correct.",
    "評価：[[8]]",
    "评分：８",
    "Score: high",
    "I cannot find any mistakes. Score 10.",
    "I cannot give more than this. Score: 3",
    "The model is unable to evaluate the integral.",
    "该模型无法完成任务，得 0 分。",
    "评分：8/10。内容无法评价的部分未计入。",
    "回答は理由を説明できません。2点。",
    "採点結果：80点。改善点は特にありません。",
]

UNRELATED_PROSE = [
    "The weather on the coast is mild today.",
    "I like turtles.",
    "Once upon a time a fisherman lived by the sea with his daughter and an old dog.",
    "Hello! How can I help you today?",
    "Here is a poem for you:\n\nWaves roll in,\nwaves roll out.",
    "Plants turn light into sugar, and sugar into wood.",
    "To bake bread, mix flour, water and salt, then wait for an hour.",
    "No man is an island.",
    "Good morning! What a lovely day for a walk.",
    "A cat sat on the mat.",
    "The tower was finished in 1889 and stands in the middle of the town.",
    "<think>What was I asked?</think>The stock market fell sharply on Monday.",
    "今日はいい天気ですね。散歩に行きましょう。",
    "富士山は日本で一番高い山です。",
    "今天天气很好，我们去公园吧。",
    "东京是日本的首都。",
    # Words that judges use, of something else.
    "The French Revolution began in 1789 and changed Europe for good. Its causes were debt, bread and privilege.",
    "Thank you for sharing this with me. Could you tell me more about what you would like to do next?",
    "def add(a, b):\n    return a + b\n\nprint(add(2, 3))",
    "Let me look for my keys. They were on the table this morning.",
    "We should consider a trip to the mountains, where the air is clear.",
    "It was a good film, and I saw it twice with my sister.",
    "Our team won the match yesterday in front of a large crowd.",
    "People often disagree about music, and that is part of its charm.",
    "今日はとても良い天気ですね。公園で犬と散歩をして、帰りにパンを買いました。",
    "我们首先看一下菜单，然后点一份牛肉面。",
]

# Prose that speaks of the judged text or gives it a mark, or was cut off on the way there: another fault.
PROSE_ABOUT_IT = [
    "I think it is fine.",
    "The response reads well, and its conclusion seems to fit what was asked for.",
    "Yes",
    "B",
    "7",
    "9 8.5\nThe first is better.",
    "Neither. They do not fit.",
    "Looks good to me.",
    "The poem demonstrates a fine sense of rhythm.",
    "Let me work through this problem step by",
    "I need to determine which word does not",
    "良い文章です。",
    "很好。",
    "首先我们来分析一下这个问题",
    "tone: 2\nfacts: 1",
    "| tone | 2 |",
    "is_correct is what I would say",
    "Verdict: correct. The value given is 42, as it should be.",
    "is_correct = true\nextracted_answer = 42\nreasoning_score = 4",
    "I'd give this 7 out of 10, because the second step is shaky.",
    "Looks right to me: Paris is the capital.",
    "It is good, but a step is left out.",
    "Let me work through this problem carefully.",
    "They do not match.",
    "正解です。最終的な値は42で一致しています。",
    "点数：8点。論理は明快だが、根拠がやや弱い。",
    "事实性60分中得50分，完整性30分中得20分，总分75。",
]

ENDPOINT_ERRORS = [
    "ERROR: Client error '429 Too Many Requests' for url 'https://example.org/v1'",
    "Error code: 503 - upstream is overloaded",
    "500 Internal Server Error",
    "HTTP/1.1 502 Bad Gateway",
    "Request timed out.",
    "Connection reset by peer",
    "Rate limit reached for requests",
    "<html><body>Bad gateway</body></html>",
    "Traceback (most recent call last):",
    "HTTPSConnectionPool(host='example.org', port=443): Read timed out.",
    "openai.RateLimitError: too fast",
    "httpx.ReadTimeout",
    "ERROR",
    "status_code: 429, message: slow down",
    "Request failed with status code 500",
    "The server is overloaded, please try again later.",
    "Invalid API key",
    "Unauthorized",
    "API调用失败：HTTP 500",
    "请求超时",
    "リクエストがタイムアウトしました",
]


def finding_of(text: str) -> tuple[Flag, str]:
    (finding,) = read_reply(text, ReplyMode.REPAIR).findings
    return finding.flag, finding.detail


@each("text", REFUSALS)
def test_refusals_are_recognised_in_three_languages(text: str) -> None:
    flag, detail = finding_of(text)

    assert flag is Flag.JUDGE_REFUSAL_OR_EVASION
    assert detail.startswith("the judge declines: ")


@each("text", PROSE)
def test_prose_about_a_refusal_is_just_prose(text: str) -> None:
    unparsable, violation = read_reply(text, ReplyMode.REPAIR).findings

    assert unparsable.flag is Flag.UNPARSABLE_OUTPUT
    assert unparsable.detail.startswith("no JSON object in the reply: ")
    assert violation.flag is Flag.PROTOCOL_VIOLATION


@each("text", UNRELATED_PROSE)
def test_prose_about_something_else_evades(text: str) -> None:
    """Seed 003 §6: output that has nothing to do with the task, in three languages."""
    flag, detail = finding_of(text)

    assert flag is Flag.JUDGE_REFUSAL_OR_EVASION
    assert detail.startswith("not about the judged text, and without a mark for it: ")


@each("text", PROSE_ABOUT_IT)
def test_prose_that_says_anything_of_the_judged_text_is_unparsable(text: str) -> None:
    """A verdict in words, a vague one, and one that was cut off before it came; none of them evades."""
    flags = {finding.flag for finding in read_reply(text, ReplyMode.REPAIR).findings}

    assert flags == {Flag.UNPARSABLE_OUTPUT, Flag.PROTOCOL_VIOLATION}


@each("text", ["{broken", "```\nThe sea is deep.\n```", "｛sea：deep｝", "{'sea': 'deep'}", "...", "<sea>deep</sea>"])
def test_what_looks_like_data_is_broken_and_no_evasion(text: str) -> None:
    """Whatever it is about."""
    flags = {finding.flag for finding in read_reply(text, ReplyMode.REPAIR).findings}

    assert Flag.UNPARSABLE_OUTPUT in flags
    assert Flag.JUDGE_REFUSAL_OR_EVASION not in flags


@pytest.mark.thorough
@each("unit", ["a ", "the ", "\n", "it is ", "the a b ", "model ", "0", "let me ", "モ", "\nx ", "- ", "I "])
def test_a_long_text_is_told_from_a_judgment_in_linear_time(unit: str) -> None:
    """Four times the text costs less than eight times as much; and nothing where it is as long as a book."""

    def cost(length: int) -> float:
        text = "x " + unit * (length // len(unit))
        begun = time.process_time()
        for _ in range(5):
            read_reply(text, ReplyMode.REPAIR)
        return time.process_time() - begun

    assert cost(200_000) < 8 * cost(50_000) + 0.5


@each("text", ENDPOINT_ERRORS)
def test_an_endpoints_error_is_named_as_such(text: str) -> None:
    flag, detail = finding_of(text)

    assert flag is Flag.UNPARSABLE_OUTPUT
    assert detail.startswith("an endpoint's error instead of a reply: ")


def test_a_row_of_particles_is_read_in_no_time() -> None:
    """Tokens that overlap must not be tried in every combination."""
    assert read_reply("評価" + "には" * 190 + "x", ReplyMode.REPAIR).value is None


def test_a_refusal_under_the_name_of_an_error_is_a_refusal() -> None:
    (finding,) = read_reply('{"error": "I cannot evaluate this."}', ReplyMode.REPAIR, ("verdict",)).findings

    assert finding.flag is Flag.JUDGE_REFUSAL_OR_EVASION


def test_a_refusal_before_a_verdict_does_not_unmake_the_verdict() -> None:
    reading = read_reply('I cannot be sure, but: {"n": 1}', ReplyMode.REPAIR)

    assert reading.value == {"n": 1}
