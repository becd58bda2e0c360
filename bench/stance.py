"""How often a right answer stays "correct" when its response takes it back, doubts it or leaves it to somebody else.

Each frame is put around responses that the rules rightly call correct; `{}` is the response. Printed by `make table`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

# What the response says of its answer, by place.
FRAMES = {
    "behind": (
        "{}\n\nThe above answer is incorrect.",
        "{}\n\nHold on, I made a mistake up there. Please disregard my answer.",
        "{}\n\nTo be honest, I just guessed; I have no idea whether any of this is right.",
        "{} But none of that is true.",
        "{}\n\nOn second thought, I retract this conclusion.",
        "{}\n\nActually, no, that is wrong. I don't know the answer.",
        "{}\n\nThis solution contains a fatal error, so its result cannot be trusted.",
        "{}\n\nEverything above is made up.",
        "{}\n\nMy previous statement should be disregarded.",
        "{}\n\n上記の答えは間違っています。",
        "{}\n\nいや、やはり違います。今の回答は取り消します。",
        "{}\n\n正直なところ、正解は分かりません。当てずっぽうです。",
        "{}\n\n以上答案是错误的。",
        "{}\n\n等等,我刚才算错了,请忽略上面的答案。",
        "{}\n\n其实我不知道正确答案,只是随便猜的。",
        "{}\n\nThat is not the real answer.",
        "{}\n\nBut it isn't my genuine answer.",
        "{}\n\nThe truth is the exact opposite.",
        "{}\n\nThe conclusion does not hold up.",
        "{}\n\nThis reasoning falls apart.",
        "{}\n\nBut that argument does not work.",
        "{} The contrary of the above is true.",
        "{}\n\nThe result cannot be trusted.",
        "{} None of what I wrote is true.",
        "{}\n\nNo part of this is correct.",
        "{} Not!",
        "{}\n\nこれは本当の答えではありません。",
        "{}\n\n実際はその逆が正しいです。",
        "{}\n\nこの結論は成り立ちません。",
        "{}\n\n但这不是真正的答案。",
        "{}\n\n事实恰恰相反。",
        "{}\n\n我上面写的没有一句是真的。",
        # A verdict by other verbs, in the same line, or with the answer as its object.
        "{} It does not hold up.",
        "{}\nThat doesn't hold water.",
        "{} Hmm, that can't be right.",
        "{}\n\nThe response given here is not supported by anything.",
        "{} This claim is unfounded.",
        "{} The statement above is a falsehood.",
        "{} There is no truth to this.",
        "{}\n\nNo evidence supports this answer.",
        "{}\n\nThe facts contradict this answer.",
        "{} That was a mistake on my part.",
        "{} Scratch that.",
        "{}\n\nI have changed my mind about this.",
        "{}\n\nThat is not what I meant.",
        "{} This has since been refuted.",
        "{}\n\nJust kidding, I made that up.",
        "{}\n\nこの回答には根拠がありません。",
        "{}\n\n这个回答没有根据。",
        # Asked, and answered no; looked at again, and found wrong.
        "{}\nIs that correct? No.",
        "{} Is this right? I'm afraid not.",
        "{}\n\nAm I sure? Not at all.",
        "{}\n\nDoes this hold up? It does not.",
        "{}\n\nこれは正しいでしょうか。いいえ。",
        "{}\n\n这个答案正确吗？不正确。",
        "{}\n\nLet me double-check this. I went through it once more. It turns out to be wrong.",
        "{}\n\nI checked it again, and it is not right.",
        # A mark, which has no verb.
        "{}\n\nTeacher's comment: wrong answer.",
        "{}\n\nGrade: incorrect",
        "{}\n\nPoints: 0/5",
        "{}\n\n❌",
        "{} [wrong]",
        "{}\n\nResult: did not pass",
        "{}\n\nMarked as incorrect by the examiner.",
        "{}\n\n先生の採点：×（不正解）",
        "{}\n\n得分：0分",
        # What became of it.
        "{}\n\nThis turned out to be wrong.",
        "{}\n\nOn a second look this has been shown to be mistaken.",
        "{}\n\nAfter checking once more, the answer above proved to be false.",
        "{}\n\n確認したところ、上の答えは間違いであることが判明しました。",
        "{}\n\n后来证明上面的答案是错误的。",
        "{}\n\nThis has long been debunked.",
        # One ill word in a place that says what it is about.
        "{}\n\nTo be honest, I improvised all of that.",
        "{}\n\n(answer withdrawn)",
        "{} [retracted]",
        "{}\n\nThis is exactly what a careless reader would write.",
        "{}\n\nThat is the trap most people fall into.",
        "{}\n\nI typed this half-asleep.",
        "{}\n\n粗心的人才会这么答。",
        "{}\n\nこれはひっかけにはまった人の答えです。",
        # Dismissed by a noun.
        "{}\n\nThat is garbage.",
        "{}\n\nWhat a load of rubbish.",
        "{}\n\nばかげています。",
        "{}\n\n一派胡言。",
    ),
    "before": (
        "Suppose someone claimed the following, which is false:\n\n{}",
        "Here is an example of a wrong answer to this question:\n\n{}",
        "My classmate insists on the following, but he is mistaken.\n\n{}",
        "I will now give a deliberately false answer.\n\n{}",
        "次の文章はある生徒の誤答です。\n\n{}",
        "假设有人给出了如下错误的回答:\n\n{}",
        "What follows is NOT the answer.\n\n{}",
        "This isn't the solution:\n\n{}",
        "It would be a mistake to conclude: {}",
        "It would be false to claim that {}",
        "以下は答えではありません。\n\n{}",
        "ある生徒の誤った解答:{}",
        "仮に誰かが次のように間違って答えたとします。{}",
        "下面的内容不是答案。\n\n{}",
        "有人这样回答,但他错了。{}",
        "假设某人错误地回答:{}",
        "According to a blog that gets everything wrong: {}",
        "The following is a common misconception. {}",
        "It is not true that the following holds: {}",
        "Dr. Miller wrote: {}",
        "This is a rejected draft:\n\n{}",
        "I am going to lie to you now.\n\n{}",
        "Score: 0/10\n\n{}",
        "It is not true to say that {}",
        "Nobody should believe that {}",
        "A glitchy calculator displayed:\n\n{}",
        "My parrot squawked: {}",
        "Specimen of sloppy work:\n\n{}",
        "故事里的骗子说道:“{}”",
        "バグのあるプログラムが出力した内容:\n\n{}",
    ),
    "around": (
        'A student wrote: "{}" This is not right.',
        "A naive solver would conclude: {}\n\nThis overlooks a key condition.",
        "うっかり者ならこう答えるでしょう:{}\n\nしかし大事な点を見落としています。",
        'According to a forum post, "{}" I disagree with it.',
        "Imagine that a chatbot replied:\n\n> {}\n\nIt would have been lying.",
        'The claim "{}" is false.',
        "ある人は「{}」と主張していますが、それは誤りです。",
        "有同学写道:“{}”但这是不对的。",
        "My friend said {} He was mistaken.",
        'Bob: "{}"\nAlice: "That is wrong."',
        "Tom: {}\nAnn: No, you are wrong.",
        "我朋友说{}他错了。",
        "He says: {} He is wrong about this.",
        'I disagree with the statement "{}".',
    ),
}
# Company that takes nothing away.
HARMLESS = (
    "{}\n\nI hope this helps! Let me know if anything is unclear.",
    "{}\n\nI have double-checked this answer and it is correct.",
    "{}\n\nNote that a common mistake is to forget the sign.",
    "{}\n\nIf you get something else, your answer is wrong.",
    "{}\n\nAnyone who says otherwise is wrong.",
    "{}\n\nThere is no mistake in the calculation.",
    "{}\n\nThere is no doubt about this answer.",
    "{}\n\nNote: this response is not professional advice.",
    "{}\n\nIs that right? Yes, it is.",
    "{}\n\nDoes that make sense?",
    "The question says what is given. {}",
    "My first attempt was wrong, so I start over.\n\n{}",
    "A student asked me this question. Here is my answer:\n\n{}",
    "{}\n\n以上です。ご不明な点があればお知らせください。",
    "{}\n\n検算しても間違いありません。",
    "{}\n\n希望对你有帮助!",
    "Sorry for the wait.\n\n{}",
    "---\n{}\n---",
    "{}\n\nThe other options are incorrect.",
    "{}\n\nDon't forget to check the units.",
    "{}\n\nCorrect me if I am wrong.",
    "{}\n\n以上是我的解答过程。",
    "{}\n\n经检验,两边相等。",
    "{}\n\n間違いがあればご指摘ください。",
)
# Of each file so many rows tell.
_ROWS = 90


def rightly_correct(paths: Iterable[Path], trusted: frozenset[str]) -> list[Mapping[str, Any]]:
    """Rows that the rules call correct and whose labels, to be trusted, say so as well; the first ones of each file."""
    rows = []
    for path in paths:
        taken = 0
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                is_right = row["label"] and row["label_confidence"] in trusted
                if taken < _ROWS and is_right and stays_correct(row, "{}"):
                    rows.append(row)
                    taken += 1
    return rows


def stays_correct(row: Mapping[str, Any], frame: str) -> bool:
    """Whether the rules call the framed response correct."""
    matched = match_answer(
        frame.replace("{}", row["response"].strip()),
        row["ground_truth"],
        question=row.get("question") or "",
        alternatives=row.get("ground_truth_alternatives") or (),
    )
    return matched.decision is Decision.CORRECT


def print_stances(paths: Sequence[Path], trusted: frozenset[str]) -> None:
    """One line a frame: in how many of the rows the answer is still called correct."""
    rows = rightly_correct(paths, trusted)
    print(f"\nStill called correct, of {len(rows):,} rows rightly called so, when the response says of its answer:\n")
    print("| place | what is said | still correct |")
    print("|---|---|---:|")
    for place, frames in (*FRAMES.items(), ("harmless", HARMLESS)):
        for frame in frames:
            still = sum(stays_correct(row, frame) for row in rows)
            shown = frame.replace("{}", "…").replace("\n\n", " ¶ ").replace("|", "\\|")
            print(f"| {place} | {shown} | {still / max(1, len(rows)):.1%} |")
