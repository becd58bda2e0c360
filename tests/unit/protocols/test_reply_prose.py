"""A refusal and an endpoint's error are told from other prose."""

from tests.cases import each

from mixseek.domain.judgments import Flag
from mixseek.protocols.reply_json import ReplyMode
from mixseek.protocols.reply_reader import read_reply

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
