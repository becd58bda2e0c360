"""What a dataset is written in, told by its scripts; and the phrases that the rules look for."""

import re
import time
import tomllib
from pathlib import Path

from tests.cases import each

import mixseek.matching
from mixseek.matching.phrases import Phrases, written_in

ROOM = Path(mixseek.matching.__file__).parent
TABLES = tomllib.loads((ROOM / "phrases.toml").read_text(encoding="utf-8"))
USES: dict[str, set[str]] = {}
# A table may be looked up in several files.
for path in ROOM.rglob("*.py"):
    text = path.read_text(encoding="utf-8")
    if found := re.search(r'_SAYS\b.* = Phrases\("(\w+)"\)', text):
        USES.setdefault(found[1], set()).update(re.findall(r"_SAYS\.(\w+)", text))


@each("table", sorted(USES))
def test_every_phrase_that_is_looked_for_is_there_and_every_one_there_is_looked_for(table: str) -> None:
    """Names are looked up while matching: a slip must show here and not in a user's run."""
    phrases = Phrases(table)
    patterns = {name: getattr(phrases, name) for name in phrases.texts}
    within = set(re.findall(r"\{([a-z_]+)\}", "".join(TABLES[table].values())))

    assert USES[table] <= patterns.keys()
    assert patterns.keys() == USES[table] | within


@each(
    ("texts", "language"),
    [
        (["Describe the harbour in three sentences.", "The pier is long and the gulls are loud."], "en"),
        (
            [
                "港の様子を三つの文で説明してください。",
                "桟橋は長く、カモメの声が大きく響きます。",
            ],
            "ja",
        ),
        (["请用三句话描述这个港口。", "码头很长，海鸥的叫声很大。中午有船出发，晚上灯塔会亮起来，行人很多。"], "zh"),
        (
            [
                "Docker と Kubernetes の違いを説明してください。",
                "Docker はコンテナを作り、Kubernetes はそれを管理します。",
            ],
            "ja",
        ),
        (
            [
                "请介绍 Docker 的原理以及它与虚拟机的区别。",
                "Docker 使用内核的隔离机制，因此启动很快，资源也少。",
            ],
            "zh",
        ),
        (
            [
                "What does 茶 mean in this old poem about the sea?",
                "It means tea, as we are told.",
            ],
            "en",
        ),
        (["日本の「の」について，请用中文说明它的用法，并且给出三个例子和一个总结，谢谢你的帮助。" * 2, ""], "zh"),
        (["42", "(A)"], None),
        (["", ""], None),
        (["Опишите гавань в трёх предложениях, пожалуйста, и подробно.", "Причал длинный."], None),
        (["항구를 세 문장으로 설명해 주세요. 부두는 길고 갈매기는 시끄럽습니다. 정오에 배가 떠납니다."], None),
    ],
)
def test_the_scripts_tell(texts: list[str], language: str | None) -> None:
    assert written_in(texts) == language


def test_long_texts_are_looked_at_no_further_than_it_takes() -> None:
    started = time.process_time()

    assert written_in(["tea " * 5_000_000] * 20) == "en"
    assert time.process_time() - started < 2.0
