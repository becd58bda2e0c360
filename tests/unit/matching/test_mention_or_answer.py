"""Open questions: a response that only mentions the reference does not answer with it, and one that plainly answers does.

The rows were written before the rules were, and none of them is of a data set. Each is tried with the reference alone and
with a list of alternatives, which has numbers read as text.
"""

from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.statements import Decision

MENTIONS = [
    (
        "Which city is the capital of Australia?",
        "Canberra",
        "Everyone thinks Canberra is the capital, but it's really Sydney.",
    ),
    ("Which city is the capital of Australia?", "Canberra", "Is Canberra the capital? No. Sydney is."),
    ("Which planet has the most moons?", "Saturn", "Candidates: Jupiter, Saturn, Neptune."),
    (
        "Which planet has the most moons?",
        "Saturn",
        "It could be any of the gas giants: Jupiter, Saturn, Uranus or Neptune.",
    ),
    ("Who is the head coach of the Harriers?", "Ella Brandt", "It was Ella Brandt until 2010; now it is Tomas Reiff."),
    ("Who is the head coach of the Harriers?", "Ella Brandt", "Tomas Reiff, who succeeded Ella Brandt."),
    ("What is the longest river of Europe?", "Volga", "The Danube is longer than the Volga, so it is the longest."),
    (
        "What is the longest river of Europe?",
        "Volga",
        "Not the Volga, as many believe, but the Danube is the longest river of Europe.",
    ),
    ("What is the longest river of Europe?", "Volga", "The Danube. The Volga is only the second longest."),
    ("Who wrote the play Armida's Lamp?", "Paul Verne", "Armida's Lamp was written by Jean-Paul Vernet."),
    ("Which state has the city of Kingsford?", "Virginia", "Kingsford is in West Virginia."),
    ("How much did the ticket cost?", "$18", "The ticket cost €18."),
    ("When did the bridge open?", "1931", "As of 1931 the bridge had not been opened; it opened in 1934."),
    ("When did the bridge open?", "1931", "Construction began in 1931 and the bridge opened in 1934."),
    ("Who discovered the comet?", "Lena Park", "Lena Park's assistant, Omar Hadid, discovered the comet."),
    (
        "Who discovered the comet?",
        "Lena Park",
        "Some sources credit Lena Park, but the comet was discovered by Omar Hadid.",
    ),
    (
        "Who discovered the comet?",
        "Lena Park",
        "Unlike Lena Park, who only confirmed it, Omar Hadid saw the comet first.",
    ),
    ("Who won the final of 1987?", "Arvika", "Arvika lost the final of 1987 to Borlund."),
    ("Who won the final of 1987?", "Arvika", "Borlund beat Arvika in the final of 1987."),
    (
        "Which metal melts at the lowest temperature?",
        "mercury",
        "Of mercury, gallium and caesium, it is gallium that melts at the lowest temperature.",
    ),
    ("What is the least populous canton?", "Uri", "Uri isn't the least populous canton; Appenzell is."),
    ("オーストラリアの首都はどこですか。", "キャンベラ", "キャンベラと思われがちですが、実はシドニーです。"),
    ("一番高い山はどれですか。", "白岳", "候補は青岳、白岳、赤岳です。"),
    ("澳大利亚的首都是哪里？", "堪培拉", "很多人以为是堪培拉，其实是悉尼。"),
    ("谁是这家公司的总裁？", "李明", "2010年以前是李明，现在是王芳。"),
    ("这座桥是哪一年建成的？", "1931年", "1931年开工，1934年建成。"),
    ("社長は誰ですか。", "田中一郎", "2010年までは田中一郎でしたが、今は佐藤花子です。"),
    (
        "Which gas is most abundant in the air of the planet?",
        "argon",
        "If the planet were warmer, it would be argon. As it is, nitrogen is the most abundant.",
    ),
    (
        "What is the largest city in Turkey?",
        "Ankara",
        "Ankara is the capital, whereas Istanbul is the largest city in Turkey.",
    ),
    (
        "Who wrote Hamlet?",
        "Christopher Marlowe",
        "A minority of scholars propose Christopher Marlowe, yet Hamlet was written by William Shakespeare.",
    ),
    (
        "Who painted the Blue Boy?",
        "Joshua Reynolds",
        "The Blue Boy was painted by Thomas Gainsborough, a rival of Joshua Reynolds.",
    ),
    (
        "What is the tallest building in the city?",
        "Orion Tower",
        "At 300 m, Vega House surpasses Orion Tower as the tallest building in the city.",
    ),
    ("Who is the king of Norvia?", "Olaf IV", "King Harald V, the son of Olaf IV, is the king of Norvia."),
    ("Who is the king of Norvia?", "Olaf", "Harald, son of Olaf."),
    ("Who invented the device?", "Nils Holm", "It is a common misconception that Nils Holm invented the device."),
    ("Who invented the device?", "Nils Holm", "Contrary to popular belief, Nils Holm did not invent the device."),
    (
        "Who invented the device?",
        "Nils Holm",
        "Nils Holm is frequently credited with it, but the device was invented by Eva Lund.",
    ),
    ("Who invented the device?", "Nils Holm", "The device was invented by Eva Lund, a student of Nils Holm."),
    ("Who invented the device?", "Nils Holm", "Eva Lund, not Nils Holm, invented the device."),
    ("Who invented the device?", "Nils Holm", "Eva Lund (with no help from Nils Holm) invented the device."),
    ("Which country hosts the summit?", "Peru", "The summit was to be held in Peru but was moved to Chile."),
    ("Which country hosts the summit?", "Peru", "Chile hosts the summit instead of Peru."),
    ("Which country hosts the summit?", "Peru", "After Peru withdrew, Chile became the host."),
    ("Which country hosts the summit?", "Peru", "Is it Peru? Is it Chile? Nobody has decided."),
    ("Which country hosts the summit?", "Peru", "It's either Peru or Chile."),
    ("What is the capital of Kazakhstan?", "Almaty", "Almaty used to be the capital, today it is Astana."),
    ("What is the capital of Kazakhstan?", "Almaty", "The capital is Astana; previously it was Almaty."),
    ("What is the capital of Kazakhstan?", "Almaty", "The capital moved from Almaty to Astana in 1997."),
    ("Who won the race?", "Bo Lind", "Bo Lind led for most of the race but Kai Rask won it."),
    ("Who won the race?", "Bo Lind", "Bo Lind came second."),
    ("Who won the race?", "Bo Lind", "Bo Lind was disqualified, so Kai Rask won the race."),
    ("Who won the race?", "Bo Lind", "Kai Rask won the race ahead of Bo Lind."),
    ("Who won the race?", "Bo Lind", "Kai Rask, followed by Bo Lind."),
    ("How much does it weigh?", "18 kg", "It weighs 18 lb."),
    ("How many miles long is the trail?", "18", "The trail is 18 km long."),
    ("How much did it cost?", "£40", "It cost 40 dollars."),
    ("How much did it cost?", "40 euros", "It cost $40."),
    ("What is the name of the island?", "Mull", "The island is called Isle of Mullion."),
    ("Who is the author?", "Ann Hart", "The author is Ann Hartley."),
    ("Who is the author?", "Martin Luther", "The author is Martin Luther King."),
    ("When was the treaty signed?", "1848", "The war lasted until 1848; the treaty was signed in 1850."),
    ("When was the treaty signed?", "1848", "Talks opened in 1848, but the treaty was not signed before 1850."),
    (
        "When was the treaty signed?",
        "May 3, 1848",
        "Negotiations began on May 3, 1848 and the treaty was signed on June 9, 1848.",
    ),
    ("日本で一番高い山は？", "北岳", "北岳は二番目に高い山で、一番は富士山です。"),
    ("日本で一番高い山は？", "北岳", "北岳ではなく富士山です。"),
    ("日本で一番高い山は？", "北岳", "富士山は北岳より高い。"),
    ("誰が発見しましたか。", "山田太郎", "山田太郎の弟子の鈴木次郎が発見しました。"),
    ("首都はどこですか。", "京都", "かつては京都でしたが、現在は東京です。"),
    ("中国最长的河是哪条？", "黄河", "黄河是第二长的河，最长的是长江。"),
    ("中国最长的河是哪条？", "黄河", "长江比黄河长。"),
    ("谁发明了它？", "张三", "不是张三，而是李四。"),
    ("谁发明了它？", "张三", "候选人有张三、李四和王五。"),
    ("首都是哪里？", "上海", "是上海吗？不，是北京。"),
]

ANSWERS = [
    (
        "Which city is the capital of Australia?",
        "Canberra",
        "Many people think it is Sydney, but the capital of Australia is Canberra.",
    ),
    (
        "Which city is the capital of Australia?",
        "Canberra",
        "Canberra. Sydney is the largest city, but not the capital.",
    ),
    ("Which planet has the most moons?", "Saturn", "Saturn has the most moons, ahead of Jupiter."),
    ("Which planet has the most moons?", "Saturn", "The planet with the most moons is Saturn."),
    ("Who is the head coach of the Harriers?", "Tomas Reiff", "It was Ella Brandt until 2010; now it is Tomas Reiff."),
    ("Who is the head coach of the Harriers?", "Tomas Reiff", "The head coach of the Harriers is Tomas Reiff."),
    (
        "What is the longest river of Europe?",
        "Volga",
        "The Volga is the longest river of Europe, at about 3,500 kilometres.",
    ),
    ("What is the longest river of Europe?", "Volga", "It's the Volga."),
    (
        "Who wrote the play Armida's Lamp?",
        "Paul Verne",
        "Armida's Lamp was written by the French playwright Paul Verne.",
    ),
    ("Which state has the city of Kingsford?", "West Virginia", "Kingsford is in West Virginia."),
    ("How much did the ticket cost?", "$18", "The ticket cost $18."),
    ("When did the bridge open?", "1931", "The bridge opened in 1931."),
    ("When did the bridge open?", "1934", "Construction began in 1931 and the bridge opened in 1934."),
    ("Who discovered the comet?", "Lena Park", "The comet was discovered by Lena Park in 1921."),
    ("Who discovered the comet?", "Lena Park", "Lena Park discovered the comet together with her assistants."),
    ("Who won the final of 1987?", "Arvika", "Arvika won the final of 1987, beating Borlund 3-1."),
    (
        "Which metal melts at the lowest temperature?",
        "mercury",
        "Mercury is the metal that melts at the lowest temperature.",
    ),
    ("What is the least populous canton?", "Uri", "The least populous canton is Uri."),
    (
        "Who painted the ceiling of the chapel?",
        "Marta Lindqvist",
        "The ceiling of the chapel was painted by Marta Lindqvist between 1902 and 1905.",
    ),
    ("Where is the Museum of Salt?", "Halberg", "The Museum of Salt is located in Halberg, Norway."),
    ("What is the currency of the island?", "the crown", "The currency of the island is the crown."),
    (
        "Who sang the title song of the film?",
        "Nora Bell",
        "The title song was sung by Nora Bell. It was written by Carl Hume.",
    ),
    ("オーストラリアの首都はどこですか。", "キャンベラ", "オーストラリアの首都はキャンベラです。"),
    ("社長は誰ですか。", "佐藤花子", "現在の社長は佐藤花子です。"),
    ("澳大利亚的首都是哪里？", "堪培拉", "澳大利亚的首都是堪培拉。"),
    ("这座桥是哪一年建成的？", "1934年", "这座桥于1934年建成。"),
    (
        "What is the largest city in Turkey?",
        "Istanbul",
        "Ankara is the capital, whereas Istanbul is the largest city in Turkey.",
    ),
    (
        "Who wrote Hamlet?",
        "William Shakespeare",
        "Some propose Christopher Marlowe, but Hamlet was written by William Shakespeare.",
    ),
    (
        "Who painted the Blue Boy?",
        "Thomas Gainsborough",
        "The Blue Boy was painted by Thomas Gainsborough, a rival of Joshua Reynolds.",
    ),
    (
        "What is the tallest building in the city?",
        "Vega House",
        "Vega House is taller than Orion Tower and is the tallest building in the city.",
    ),
    ("Who is the king of Norvia?", "Harald V", "King Harald V, the son of Olaf IV, is the king of Norvia."),
    ("Who invented the device?", "Eva Lund", "The device was invented by Eva Lund, a student of Nils Holm."),
    ("Who invented the device?", "Eva Lund", "Eva Lund, not Nils Holm, invented the device."),
    ("Which country hosts the summit?", "Chile", "Chile hosts the summit instead of Peru."),
    ("What is the capital of Kazakhstan?", "Astana", "The capital moved from Almaty to Astana in 1997."),
    ("What is the capital of Kazakhstan?", "Astana", "Almaty used to be the capital, today it is Astana."),
    ("Who won the race?", "Kai Rask", "Kai Rask won the race ahead of Bo Lind."),
    (
        "Who was the first mayor of Penrill?",
        "Ada Marsh",
        "Ada Marsh was the first mayor of Penrill, from 1902 until 1910.",
    ),
    (
        "Who was prime minister in 1950?",
        "Otto Penn",
        "Otto Penn was prime minister in 1950. He was succeeded by Ida Holm in 1952.",
    ),
    ("Who composed the opera?", "Verdi", "The opera was composed by Verdi, who was greater than his rivals."),
    ("Who is Ada Marsh's husband?", "Otto Penn", "Ada Marsh's husband is Otto Penn."),
    ("Which river is longer than the Danube?", "Volga", "The Volga is longer than the Danube."),
    ("Who lost the final?", "Arvika", "Arvika lost the final to Borlund."),
    ("Who came second?", "Bo Lind", "Bo Lind came second."),
    ("What would you get if you mixed red and blue?", "purple", "If you mixed red and blue, you would get purple."),
    ("How much did it cost?", "$40", "It cost 40 dollars."),
    ("When was the treaty signed?", "1850", "The war lasted until 1848; the treaty was signed in 1850."),
    (
        "When was the treaty signed?",
        "June 9, 1848",
        "Negotiations began on May 3, 1848 and the treaty was signed on June 9, 1848.",
    ),
    ("日本で一番高い山は？", "富士山", "富士山は北岳より高い山で、一番高い山は富士山です。"),
    ("首都はどこですか。", "東京", "かつては京都でしたが、現在は東京です。"),
    ("中国最长的河是哪条？", "长江", "黄河是第二长的河，最长的是长江。"),
    ("谁发明了它？", "李四", "不是张三，而是李四。"),
]


@each(("question", "gold", "response"), MENTIONS)
def test_what_is_only_mentioned_is_not_correct(question: str, gold: str, response: str) -> None:
    assert match_answer(response, gold, question=question).decision is not Decision.CORRECT
    assert match_answer(response, gold, question=question, alternatives=[gold]).decision is not Decision.CORRECT


@each(("question", "gold", "response"), ANSWERS)
def test_what_is_plainly_answered_is_correct(question: str, gold: str, response: str) -> None:
    assert match_answer(response, gold, question=question).decision is Decision.CORRECT
    assert match_answer(response, gold, question=question, alternatives=[gold]).decision is Decision.CORRECT
