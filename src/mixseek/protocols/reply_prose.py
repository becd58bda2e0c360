"""What stands around an object, and what a reply without one is: a refusal, an endpoint's error, or just prose."""

import re

# Only the neighbourhood of the object is looked at, so a megabyte of prose costs nothing.
_NEAR = 80
_FENCE_BEFORE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[A-Za-z0-9_+.-]{0,20}\s*\Z")
_FENCE_AFTER = re.compile(r"\s*(?:`{3,}|~{3,})")

# A refusal opens the reply; further on, the words are as likely to be about the judged response.
_OPENING_LENGTH = 400

# A quoted refusal is the judged response's.
_QUOTED = re.compile(r"「[^」]{0,200}」|『[^』]{0,200}』|“[^”]{0,200}”|\"[^\"]{0,200}\"|(?<!\w)'[^\n]{0,200}?'(?!\w)")
_I = r"(?<!\w)I"
_NOT_ABLE = r"(?:cannot|can['’]?t|can not|could ?n['’o]t|won['’]?t|will not|(?:am|['’]m) (?:unable|not able))"
_DUTIES = (
    r"(?:evaluat|judg|assess|grad|scor|rat|determin|decid|verif|provid|assist|help|compl|fulfil|answer|respond|engag"
    r"|continu|giv|offer|mak|process|perform|participat|do|say)(?:e|es|ing|y|l|ely|)\b"
)
# Within one sentence: "I cannot find any mistake. Score 10." declines nothing.
_SOON = r"[^.!?\n]{0,25}?"
_EVALUATES = r"(?:evaluat|judg|assess|grad|scor|rat)(?:e|es|ing|)\b"
_JA_DUTY = r"(?:評価|判定|採点|点数|評点|スコア|お答え|お応え|お引き受け|お手伝い|ご要望|ご依頼)"
_JA_LINK = r"(?:する|行う|付ける|つける|出す|提供|提示|実施|こと|には|[をはがにの])*+"
_JA_NOT = (
    r"(?:(?:でき|行え|行い|いたし|致し|し|沿え|応じられ|付けられ)(?:ません|かね)"
    r"|お断り|(?:差し)?控え(?:させ|ます)|拒否し|不可能|不能)"
)
_ZH_NOT = r"(?:无法|無法|不能|不便|不予|不会|不會|不应|不應|拒绝|拒絕|(?:没有|沒有|无|無)能力|暂不|暫不)"
_ZH_EVALUATES = r"(?:评测|評測|评分|評分|评估|評估|评判|評判|评价|評價|评审|評審|打分|给分|給分|判分)"
_REFUSALS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_I} ?{_NOT_ABLE}\b{_SOON}\b{_DUTIES}",
        rf"{_I} (?:must |have to |will )?(?:respectfully |politely )?(?:decline|refuse)\b",
        rf"{_I}(?:['’]m| am) not (?:going|willing|comfortable)\b{_SOON}\b{_EVALUATES}",
        rf"{_I}(?:['’]d| would) (?:rather|prefer) not\b{_SOON}\b{_EVALUATES}",
        rf"{_I} do(?: not|n['’]t) feel comfortable\b{_SOON}\b{_EVALUATES}",
        rf"(?:appropriate for me to|(?:prevent|prohibit|keep)s? me from) {_EVALUATES}",
        rf"\A\W*(?:unable to|cannot|can['’]?t|not able to|refusing to|declin(?:e|ing) to) {_EVALUATES}",
        r"\A\W*(?:evaluation|scoring|grading|judge?ment)s? (?:is |was )?(?:declined|refused|(?:not |im)possible)",
        r"\bno (?:score|rating|grade|verdict) (?:can|could|will) be (?:given|assigned|provided)\b",
        rf"(?:\A|[.!?\n] ?)(?:I(?:['’]m| am) )?(?:very |so |really )?sorry\b.{{0,40}}?{_I} ?{_NOT_ABLE}",
        rf"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b"
        rf".{{0,60}}?{_I} ?(?:{_NOT_ABLE}|do(?: not|n['’]t))",
        r"(?:申し訳|恐れ入り|恐縮|すみません|ごめん).{0,120}?(?:できません|できかね|致しかね|いたしかね|お断り|控え)",
        r"(?<!な)(?:評価|判定|採点|回答|対応|お手伝い|判断|お答え)(?:する|を行う)?(?:こと)?(?:は|が|を)?"
        r"(?:できません|できかね|いたしかね|致しかね|お断り|控えさせ)",
        rf"(?<!な){_JA_DUTY}{_JA_LINK}{_JA_NOT}",
        r"(?:抱歉|对不起|對不起|很遗憾|很遺憾|不好意思).{0,80}?(?:无法|無法|不能|不便|拒绝|拒絕|帮不了|幫不了|不在我的)",
        r"我(?:无法|無法|不能|不便|拒绝|拒絕).{0,20}?(?:评|評|判|打分|回答|协助|協助|提供|完成|满足|滿足|处理|處理|帮|幫)",
        # Without a subject, or with one that is the judge: what cannot be evaluated, it does not evaluate.
        rf"(?:\A\W*|我|本模型|内容|內容|输出|輸出|回答|[，,。；])(?:也|均|都|将|將|暂时|目前)?{_ZH_NOT}"
        rf"(?:对[^，。！？\n]{{0,12}}?)?(?:进行|進行|给出|給出|提供|做出|作出|给予)?{_ZH_EVALUATES}",
        rf"\A\W*{_ZH_EVALUATES}(?:无法|無法|不能)(?:进行|進行|完成|给出)",
    )
)
# Who gives a score does not decline to.
_GIVES_SCORE = re.compile(
    r"(?:\bscore|\brating|评分|評分|得分|分数|スコア|点数|採点結果)\s*(?:\bis\b|为|為|是|は|[:：=])\s*\W{0,3}\d",
    re.IGNORECASE,
)

_ENDPOINT_ERROR = re.compile(
    r"\A\W*(?:"
    r"(?:\w+\s?)?error(?::|\W*\Z|\b.{0,60}?\b[1-5]\d{2,3}\b)"
    r"|(?:[a-z_]\w*\.){0,6}\w*(?:error|exception|timeout)(?:\W*\Z|[:(])"
    r"|(?:http[/ ]?\S{0,4} ?)?[45]\d\d\b.{0,40}?"
    r"(?:error|too many|bad|gateway|unavailable|timeout|forbidden|unauthorized|not found)"
    r"|(?:http )?status(?:[ _]?code)?\W{0,3}[45]\d\d\b"
    r"|(?:request|connection) (?:failed|error|reset|refused|timed out|aborted)"
    r"|https?connectionpool\(|upstream (?:request|connect)|no healthy upstream"
    r"|(?:read )?time(?:d )?-?out\b|rate.?limit|too many requests"
    r"|(?:you )?(?:have )?exceeded your current quota|quota exceeded|invalid api.?key|insufficient (?:balance|quota)"
    r"|(?:the )?(?:server|model|engine|service) is (?:currently |temporarily )?(?:overloaded|unavailable|busy)"
    r"|(?:bad request|unauthorized|forbidden|not found)\W*\Z"
    r"|service (?:temporarily )?unavailable|internal server error|bad gateway"
    r"|(?:错误|錯誤)?[：: ]*(?:api ?)?(?:请求|請求|调用|調用|网络|網絡|连接|連接|接口).{0,8}?"
    r"(?:超时|超時|失败|失敗|错误|錯誤|异常)"
    r"|(?:api)?(?:リクエスト|接続|通信).{0,6}?(?:タイムアウト|失敗|エラー)"
    r"|traceback \(|<!doctype html|<html)",
    re.IGNORECASE,
)

# Python's or JavaScript's notation, or JSON in full-width marks. Reading them would be guessing at what was meant.
_LOOKALIKE = re.compile(
    r"\A(?:(?:`{3,}|~{3,})[^\n]{0,20}\n)?\s*[{｛]\s*"
    r"(?:'[^'\n]{1,100}'\s*:|[A-Za-z_]\w{0,100}\s*:|[“”＂「『‘][^\n]{0,100}[“”＂」』’]\s*[:：]|\"[^\"\n]{0,100}\"\s*[：，])"
    r"|\A\s*｛"
)


def without_fence_before(prefix: str) -> tuple[str, bool]:
    """The text before an object without the opening fence that it ends with, and whether there was one."""
    found = _FENCE_BEFORE.search(prefix[-_NEAR:])
    if found is None:
        return prefix, False
    return prefix[: len(prefix) - len(found[0])], True


def without_fence_after(suffix: str) -> tuple[str, bool]:
    """The text after an object without the closing fence that it begins with, and whether there was one."""
    found = _FENCE_AFTER.match(suffix[:_NEAR])
    return (suffix[found.end() :], True) if found else (suffix, False)


def is_refusal(text: str) -> bool:
    """The judge declines, in English, Japanese or Chinese."""
    opening = _QUOTED.sub("", text.strip().strip('"“”「」')[:_OPENING_LENGTH])
    return _GIVES_SCORE.search(opening) is None and any(pattern.search(opening) for pattern in _REFUSALS)


def is_endpoint_error(text: str) -> bool:
    """An HTTP client's complaint or an error page that was stored where a reply should be."""
    return _ENDPOINT_ERROR.match(text.strip()[:_OPENING_LENGTH]) is not None


def is_lookalike(text: str) -> bool:
    """Begins like an object whose keys or marks are not JSON's."""
    return _LOOKALIKE.match(text[:_OPENING_LENGTH]) is not None
