"""Every page of the viewer in every language, over runs of every protocol: nothing is asked for that has no words."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.flows.document_material import RUNS, place_of_runs
from tests.unit.web.strictness import refuse_untranslated
from tests.unit.web.viewing import Client, look

# A sentence of each kind of run, as it was said before sentences had ids; numbers and names left out.
SENTENCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "sem-targets": {"ja": ("Wilson 区間", "評価者："), "zh": ("Wilson 区间", "评审：")},
    "sem-panel": {"ja": ("パネル（", "多数決", "で判定が一致"), "zh": ("多数：", "判定一致")},
    "sem-broken": {"ja": ("最低なら", "無効"), "zh": ("最低分", "无效")},
    "sem-random": {"ja": ("無作為抽出", "件にラベル", "Cohen の κ"), "zh": ("随机抽取", "有标注", "Cohen κ")},
    "sem-stratified": {"ja": ("層ごとに無作為抽出、抽出確率で重み付け",), "zh": ("分层随机抽取，按抽取概率加权",)},
    "cross-few": {"ja": ("区間なし（質問が 1 つ）", "1 つの観測なので"), "zh": ("无区间（只有一题）",)},
    "cross-broken": {"ja": ("評価のうち", "マス中", "欠け"), "zh": ("次评测中", "格中", "缺口")},
    "cross-panel": {"ja": (" − ", "中央値：真ん中のスコア", "95% 区間"), "zh": ("中位数：居中的得分",)},
    "rubric-panel": {"ja": ("最高点と最低点の差は平均", "二つなら中間"), "zh": ("最高分与最低分平均相差",)},
    "pairs-panel": {"ja": ("Bradley–Terry の強さ", "A が優勢", "順序で変わった"), "zh": ("Bradley–Terry 强度",)},
}  # fmt: skip

# What a comparison says in other languages, and what of its English may then be nowhere.
COMPARED: Mapping[str, tuple[str, ...]] = {
    "ja": ("で対応付け", "両側にスコアがあるペアの平均", "サンプルへ移動", "評価者</h2>", "サンプル</th>"),
    "zh": ("配对</dd>", "两侧都有得分的配对的均值", "跳到样本", "评审</h2>", "样本</th>"),
}  # fmt: skip
COMPARED_IN_ENGLISH = (
    *(
        ">against<",
        "paired by",
        "Scores are means",
        "Skip to",
        "The judge",
        "on both sides",
        "points",
    ),
    *(">dataset<", ">unpaired<", ">better<", "No clear difference", "Light or dark", "Ground truth", "are listed"),
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = place_of_runs(tmp_path_factory)
    # A viewer keeps what it has counted beside the runs.
    return Path(shutil.copytree(made / "ws", tmp_path_factory.mktemp("languages") / "ws"))


LANGUAGES = ("ja", "zh")


def test_every_page_over_every_protocol_asks_for_messages_that_have_words(workspace: Path) -> None:
    """In each language, from one viewer: what it has counted for one page it has for the other."""
    addresses = ["/", "/compare", "/runs/none", *(f"/runs/{run}/review" for run in RUNS)]
    compared = ["a=sem-plain&b=sem-later", "a=sem-later&b=sem-plain", "a=sem-plain&b=sem-plain"]
    compared += ["a=sem-targets&target=north&target=south", "a=cross-panel&variant=A&variant=B"]
    missing: list[str] = []

    async def look_at_run(client: Client, run: str, language: str) -> None:
        page = await client.ask(f"/runs/{run}", headers={"Accept-Language": language})
        assert (run, page.status) == (run, 200)
        sentences = SENTENCES.get(run, {}).get(language, ())
        missing.extend(f"{run}: {words}" for words in sentences if words not in page.text.split("<script")[0])
        numbers = (await client.wait(f"/api/runs/{run}/review/numbers?width=0.05&lang={language}")).json
        # As the page shows it; the sentence that programs read stays English.
        assert numbers["sentence"].isascii()
        assert numbers["sentence_in_language"].endswith("。")

    async def look_at_comparison(client: Client, query: str, language: str) -> None:
        page = await client.ask(f"/compare?{query}", headers={"Accept-Language": language})
        shown = page.text.split("<script")[0]
        missing.extend(f"{query}: {words}" for words in COMPARED[language] if words not in shown)
        missing.extend(f"{query} in English: {words}" for words in COMPARED_IN_ENGLISH if words in shown)

    async def scenario(client: Client) -> None:
        for run in RUNS:
            await client.wait(f"/api/runs/{run}")
            for language in LANGUAGES:
                await look_at_run(client, run, language)
        for address in addresses:
            for language in LANGUAGES:
                page = await client.ask(address, headers={"Accept-Language": language})
                assert (address, page.status // 100) != (address, 5)
        for query in compared:
            await client.wait(f"/api/compare?{query}")
            for language in LANGUAGES:
                await look_at_comparison(client, query, language)

    with refuse_untranslated():
        look(workspace, scenario)

    assert missing == []
