"""Which words say yes and which say no, and to what kind of question: seed 001's table in three languages.

A family is the pair a question asks for. Words of another family in the same sentence are about something else, so
"possible" answers a question of plausibility and no other.
"""

import re

FAMILIES = {
    "truth": ({"true", "yes", "correct", "valid", "t"}, {"false", "no", "incorrect", "invalid", "f"}),
    "yes_no": ({"yes", "true", "correct", "y"}, {"no", "false", "incorrect", "n"}),
    "validity": ({"valid", "yes", "true", "correct"}, {"invalid", "no", "false", "incorrect"}),
    "plausibility": (
        {"plausible", "likely", "possible", "yes", "true", "correct"},
        {"implausible", "unlikely", "impossible", "no", "false", "incorrect"},
    ),
}
# The words a question of that family asks for; where one stands, looser words beside it do not count.
CORE = {
    "truth": {"true", "false"},
    "yes_no": {"yes", "no"},
    "validity": {"valid", "invalid"},
    "plausibility": {"plausible", "implausible", "yes", "no"},
}
# Japanese and Chinese: word to polarity. The longer of two that begin alike stands first.
_ANY_QUESTION = {
    "はい": True, "いいえ": False, "正しい": True, "正しく": True, "間違": False, "誤り": False, "不正解": False,
    "真": True, "偽": False, "是的": True, "不是": False, "不正确": False, "不正確": False, "正确": True, "正確": True,
    "错误": False, "錯誤": False, "不对": False, "不對": False, "对的": True, "假的": False,
}  # fmt: skip
_ARGUMENTS = {
    "有効": True, "無効": False, "妥当": True, "成り立": True, "有效": True, "无效": False, "無效": False,
    "不成立": False, "成立": True,
}  # fmt: skip
_SENTENCES = {
    "もっともらし": True, "不自然": False, "自然": True, "不可能": False, "可能": True, "あり得": True, "ありえ": True,
    "不合理": False, "合理": True, "不合乎": False, "说得通": True, "說得通": True,
}  # fmt: skip
UNSPACED = {
    "truth": {**_ANY_QUESTION, **_ARGUMENTS},
    "yes_no": _ANY_QUESTION,
    "validity": {**_ANY_QUESTION, **_ARGUMENTS},
    "plausibility": {**_ANY_QUESTION, **_SENTENCES},
}
UNSPACED_CORE = {
    "truth": set(_ANY_QUESTION) - {"真"},
    "yes_no": set(_ANY_QUESTION) - {"真"},
    "validity": set(_ARGUMENTS),
    # 可能 and 自然 stand in any sentence.
    "plausibility": set(_SENTENCES) - {"可能", "自然"},
}
# Polar only as the first word of an answer: elsewhere 是 is a verb.
FIRST_CHARACTERS = {"是": True, "对": True, "對": True, "否": False, "错": False, "錯": False}

# Behind a Japanese word: 正しくない, 妥当とは言えません, 正しいとは限らない, 誤りではありません, 成り立ちません.
NEGATED_BEHIND = re.compile(
    r"(?:[いだくつたち]|った|り|らし[いく])?"
    r"(?:(?:と|とは|とも)(?:(?:言|い)え(?:な|ませ)|限(?:らな|りませ)|思え(?:な|ませ))|"
    r"(?:では|じゃ|で|は|も)?(?:な(?=[いくさ])|ありませ|ありえ|ませ))[いんくさ]?"
)
# Before a Chinese word: 并不有效, 不太合理, 并非正确, 没有不合理的地方; and Japanese 非妥当.
NEGATED_BEFORE = re.compile(r"(?:不太|不够|不怎么|不那么|并不|並不|并非|並非|不是|没有|沒有|绝非|不|非)$")
PLAUSIBILITY_QUESTION = re.compile(r"plausib|possible|likely|もっともらし|可能|合理|自然|あり得|ありえ", re.IGNORECASE)
