"""Open questions: a response that only mentions the reference does not answer with it, and one that plainly answers does.

The rows were written before the rules were read, and none of them is of a data set.
"""

from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.statements import Decision

MENTIONS = [
    ("Which city is the capital of Australia?", "Canberra", "Everyone thinks Canberra is the capital, but it's really Sydney."),
    ("Which city is the capital of Australia?", "Canberra", "Is Canberra the capital? No. Sydney is."),
    ("Which planet has the most moons?", "Saturn", "Candidates: Jupiter, Saturn, Neptune."),
    ("Which planet has the most moons?", "Saturn", "It could be any of the gas giants: Jupiter, Saturn, Uranus or Neptune."),
    ("Who is the head coach of the Harriers?", "Ella Brandt", "It was Ella Brandt until 2010; now it is Tomas Reiff."),
    ("Who is the head coach of the Harriers?", "Ella Brandt", "Tomas Reiff, who succeeded Ella Brandt."),
    ("What is the longest river of Europe?", "Volga", "The Danube is longer than the Volga, so it is the longest."),
    ("What is the longest river of Europe?", "Volga", "Not the Volga, as many believe, but the Danube is the longest river of Europe."),
    ("What is the longest river of Europe?", "Volga", "The Danube. The Volga is only the second longest."),
    ("Who wrote the play Armida's Lamp?", "Paul Verne", "Armida's Lamp was written by Jean-Paul Vernet."),
    ("Which state has the city of Kingsford?", "Virginia", "Kingsford is in West Virginia."),
    ("How much did the ticket cost?", "$18", "The ticket cost €18."),
    ("When did the bridge open?", "1931", "As of 1931 the bridge had not been opened; it opened in 1934."),
    ("When did the bridge open?", "1931", "Construction began in 1931 and the bridge opened in 1934."),
    ("Who discovered the comet?", "Lena Park", "Lena Park's assistant, Omar Hadid, discovered the comet."),
    ("Who discovered the comet?", "Lena Park", "Some sources credit Lena Park, but the comet was discovered by Omar Hadid."),
    ("Who discovered the comet?", "Lena Park", "Unlike Lena Park, who only confirmed it, Omar Hadid saw the comet first."),
    ("Who won the final of 1987?", "Arvika", "Arvika lost the final of 1987 to Borlund."),
    ("Who won the final of 1987?", "Arvika", "Borlund beat Arvika in the final of 1987."),
    ("Which metal melts at the lowest temperature?", "mercury", "Of mercury, gallium and caesium, it is gallium that melts at the lowest temperature."),
    ("What is the least populous canton?", "Uri", "Uri isn't the least populous canton; Appenzell is."),
    ("オーストラリアの首都はどこですか。", "キャンベラ", "キャンベラと思われがちですが、実はシドニーです。"),
    ("一番高い山はどれですか。", "白岳", "候補は青岳、白岳、赤岳です。"),
    ("澳大利亚的首都是哪里？", "堪培拉", "很多人以为是堪培拉，其实是悉尼。"),
    ("谁是这家公司的总裁？", "李明", "2010年以前是李明，现在是王芳。"),
    ("这座桥是哪一年建成的？", "1931年", "1931年开工，1934年建成。"),
    ("社長は誰ですか。", "田中一郎", "2010年までは田中一郎でしたが、今は佐藤花子です。"),
    ("Which gas is most abundant in the air of the planet?", "argon", "If the planet were warmer, it would be argon. As it is, nitrogen is the most abundant."),
]  # fmt: skip

ANSWERS = [
    ("Which city is the capital of Australia?", "Canberra", "Many people think it is Sydney, but the capital of Australia is Canberra."),
    ("Which city is the capital of Australia?", "Canberra", "Canberra. Sydney is the largest city, but not the capital."),
    ("Which planet has the most moons?", "Saturn", "Saturn has the most moons, ahead of Jupiter."),
    ("Which planet has the most moons?", "Saturn", "The planet with the most moons is Saturn."),
    ("Who is the head coach of the Harriers?", "Tomas Reiff", "It was Ella Brandt until 2010; now it is Tomas Reiff."),
    ("Who is the head coach of the Harriers?", "Tomas Reiff", "The head coach of the Harriers is Tomas Reiff."),
    ("What is the longest river of Europe?", "Volga", "The Volga is the longest river of Europe, at about 3,500 kilometres."),
    ("What is the longest river of Europe?", "Volga", "It's the Volga."),
    ("Who wrote the play Armida's Lamp?", "Paul Verne", "Armida's Lamp was written by the French playwright Paul Verne."),
    ("Which state has the city of Kingsford?", "West Virginia", "Kingsford is in West Virginia."),
    ("How much did the ticket cost?", "$18", "The ticket cost $18."),
    ("When did the bridge open?", "1931", "The bridge opened in 1931."),
    ("When did the bridge open?", "1934", "Construction began in 1931 and the bridge opened in 1934."),
    ("Who discovered the comet?", "Lena Park", "The comet was discovered by Lena Park in 1921."),
    ("Who discovered the comet?", "Lena Park", "Lena Park discovered the comet together with her assistants."),
    ("Who won the final of 1987?", "Arvika", "Arvika won the final of 1987, beating Borlund 3-1."),
    ("Which metal melts at the lowest temperature?", "mercury", "Mercury is the metal that melts at the lowest temperature."),
    ("What is the least populous canton?", "Uri", "The least populous canton is Uri."),
    ("Who painted the ceiling of the chapel?", "Marta Lindqvist", "The ceiling of the chapel was painted by Marta Lindqvist between 1902 and 1905."),
    ("Where is the Museum of Salt?", "Halberg", "The Museum of Salt is located in Halberg, Norway."),
    ("What is the currency of the island?", "the crown", "The currency of the island is the crown."),
    ("Who sang the title song of the film?", "Nora Bell", "The title song was sung by Nora Bell. It was written by Carl Hume."),
    ("オーストラリアの首都はどこですか。", "キャンベラ", "オーストラリアの首都はキャンベラです。"),
    ("社長は誰ですか。", "佐藤花子", "現在の社長は佐藤花子です。"),
    ("澳大利亚的首都是哪里？", "堪培拉", "澳大利亚的首都是堪培拉。"),
    ("这座桥是哪一年建成的？", "1934年", "这座桥于1934年建成。"),
]  # fmt: skip


@each(("question", "gold", "response"), MENTIONS)
def test_what_is_only_mentioned_is_not_correct(question: str, gold: str, response: str) -> None:
    assert match_answer(response, gold, question=question).decision is not Decision.CORRECT


@each(("question", "gold", "response"), ANSWERS)
def test_what_is_plainly_answered_is_correct(question: str, gold: str, response: str) -> None:
    assert match_answer(response, gold, question=question).decision is Decision.CORRECT
