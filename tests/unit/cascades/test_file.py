"""`cascade.toml`: what is written is what is read, and every mistake in it is one line that names the key."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each

from mixseek.cascades.certificate import (
    Certificate,
    CertifiedLabels,
    CertifiedSource,
    Tier,
    certify_judge,
    certify_protocol,
)
from mixseek.cascades.file import Cascade, CascadeTable, certified, read_cascade, write_cascade
from mixseek.domain.confidence import ConfidenceSource
from mixseek.errors import ConfigurationError
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry

SMALL = JudgeEntry(
    name="openai:small",
    kind="openai",
    model="small",
    parameters={"temperature": 0.0, "seed": None, "more": {"stop": ["a", "b"]}, "fingerprint": "f1"},
)
LARGE = JudgeEntry(name="openai:large", kind="openai", model="large", parameters={"fingerprint": "f2"})
PROTOCOL = ProtocolEntry(
    name="semantic", version="1.0", language="en", hash="ab" * 32, prompt_hashes={"system": "cd" * 32}
)


def cascade(tiers: list[Tier] | None = None) -> Cascade:
    """Two judges, of whom the cheap one decides where it is sure."""
    tiers = tiers or [
        Tier(
            name="small",
            judges=("openai:small",),
            repeats=3,
            confidence=ConfidenceSource.REPEATS,
            threshold=2 / 3,
            price=0.05,
        ),
        Tier(name="large", judges=("openai:large",), threshold=1.0, price=1.0),
    ]
    certificate = Certificate(
        made_on=date(2026, 11, 19),
        agree=0.95,
        confidence=0.9,
        decided_share=0.61,
        agreement=0.99,
        agreement_low=0.96,
        agreement_high=1.0,
        thresholds={tier.name: tier.threshold for tier in tiers if tier.threshold is not None},
        labels=CertifiedLabels(count=200, texts=1_000, questions=300, drawn="random", draws=("d1",), digest="12" * 32),
        protocol=certify_protocol(PROTOCOL),
        judges=(certify_judge(SMALL, {"small-1"}), certify_judge(LARGE, ())),
        sources=(CertifiedSource(name="first", kind="run", digest="34" * 32),),
    )
    return certified(CascadeTable(agree=0.95, confidence=0.9, sources=("first",)), tiers, certificate)


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    """To the last digit of a threshold, and whatever letters a name has."""
    odd = Tier(name='a "b"\n\x7f\\ é', judges=("x", "y=z"), threshold=0.1 + 0.2)
    for known in (cascade(), cascade([odd])):
        path = tmp_path / "cascade.toml"
        write_cascade(path, known)

        assert read_cascade(path) == known
        assert not read_cascade(path).is_edited


def test_only_tiers_that_decide_are_asked() -> None:
    """And a judge that has the last word, though nothing was shown of it."""
    silent = Tier(name="silent", judges=("a",))
    sure = Tier(name="sure", judges=("b",), threshold=0.9)
    last = Tier(name="last", judges=("c",))
    whole = cascade([silent, sure, last])

    assert whole.routing == (sure,)
    by_judge = whole.model_copy(update={"cascade": CascadeTable(agree=0.9, confidence=0.9, last="last")})
    assert by_judge.routing == (sure, last)


@each(
    ("old", "new", "message"),
    [
        ("agree = 0.95", "agree = 95", "cascade.agree: Input should be less than or equal to 1 (got 95)"),
        ("agree = 0.95", "agree = 1.0", "agree is 1; give a share between 0 and 1, such as 0.95"),
        ("agree = 0.95", 'agree = "95%"', "cascade.agree: Input should be a valid number (got '95%')"),
        ("agree = 0.95", "agree = true", "cascade.agree: Input should be a valid number (got True)"),
        ("agree = 0.95\n", "", "'cascade.agree' is missing"),
        ("agree = 0.95", "agree = 0.95\nagre = 0.9", "unknown key 'cascade.agre'; did you mean 'agree'?"),
        ("agree = 0.95", "agree = ", "not valid TOML: Invalid value (at line 4, column 9)"),
        ('last = "people"', 'last = "small"', "cascade.last: 'small' is neither 'people' nor the last tier, 'large'"),
        ("threshold = 1.0", 'beside = ["a"]', "tiers: 'large' has 'a' beside it, which no earlier tier asks"),
        ("threshold = 1.0", 'beside = ["openai:large"]', "tiers: 'large' names a judge twice"),
        ("threshold = 1.0", "threshold = nan", "tiers.2.threshold: Input should be"),
        ("threshold = 1.0", "threshold = 1.5", "tiers.2.threshold: Input should be less than or equal to 1"),
        ("price = 1.0", "price = -1", "tiers.2.price: Input should be greater than or equal to 0"),
        ("price = 1.0", "price = inf", "tiers.2.price: Input should be a finite number"),
        ("repeats = 3", "repeats = 0", "tiers.1.repeats: Input should be greater than or equal to 1"),
        ("repeats = 3", "repeats = 2.5", "tiers.1.repeats: Input should be a valid integer"),
        ('confidence = "repeats"', 'confidence = "guess"', "tiers.1.confidence: Input should be 'logprobs', "),
        ('name = "large"', 'name = "small"', "tiers: two are called 'small'; give one of them another name"),
        ('judges = ["openai:large"]', "judges = []", "tiers.2.judges: Tuple should have at least 1 item"),
        ('judges = ["openai:large"]', 'judges = ["a", "a"]', "tiers: 'large' names a judge twice"),
        ('judges = ["openai:large"]', "judges = [1]", "tiers.2.judges.1: Input should be a valid string"),
        ("made_on = 2026-11-19", 'made_on = "soon"', "certificate.made_on: "),
        (f'digest = "{"12" * 32}"', 'digest = "12"', "certificate.labels.digest: String should match pattern"),
        ('drawn = "random"', 'drawn = "chosen"', "certificate.labels.drawn: Input should be 'all', 'random' or 'w"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str, message: str
) -> None:
    """The file, the key as it stands there, and what is expected."""
    path = tmp_path_factory.mktemp("file") / "cascade.toml"
    write_cascade(path, cascade())
    text = path.read_text(encoding="utf-8")

    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_cascade(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@each("content", [b"\xff\xfe", b"", b"[cascade", b"\x00", b"[[tiers]]\n" * 10])
def test_what_is_no_cascade_at_all_is_one_line(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Nor is it written over: somebody else's file has that name."""
    path = tmp_path_factory.mktemp("file") / "cascade.toml"
    path.write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"cascade\.toml: "):
        read_cascade(path)
    with pytest.raises(ConfigurationError, match="is no cascade file; give another name with --out"):
        write_cascade(path, cascade())
    assert path.read_bytes() == content


def test_a_cascade_that_nobody_tested_is_none(tmp_path: Path) -> None:
    """Whoever writes one by hand is told who does it."""
    path = tmp_path / "cascade.toml"
    path.write_text('[cascade]\nagree = 0.95\nconfidence = 0.9\n[[tiers]]\nname = "a"\njudges = ["a"]\n')

    with pytest.raises(ConfigurationError, match="'certificate' is missing; `mixseek cascade plan` writes one"):
        read_cascade(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A directory is none, either."""
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ConfigurationError, match="give a file that can be read"):
            read_cascade(path)


# What voids a certificate.


def test_nothing_changed_voids_nothing() -> None:
    """The very judges and the very protocol, answering as the same models, or nobody knows as which."""
    whole = cascade()

    assert whole.voided_by([SMALL, LARGE], PROTOCOL) == ()
    assert whole.voided_by([SMALL, LARGE], PROTOCOL, {"openai:small": ["small-1"]}) == ()


def changed(entry: Any, **values: Any) -> Any:
    return entry.model_copy(update=values)


@each(
    ("judge", "protocol", "models", "named"),
    [
        ({"model": "other"}, {}, {}, ["judge openai:small: model small, now other"]),
        ({"kind": "vllm"}, {}, {}, ["judge openai:small: kind openai, now vllm"]),
        (
            {"parameters": {**SMALL.parameters, "temperature": 1.0, "seed": 7}},
            {},
            {},
            ["judge openai:small: seed none, now 7", "judge openai:small: temperature 0.0, now 1.0"],
        ),
        ({}, {}, {"openai:small": ["small-2"]}, ["judge openai:small: model version small-1, now small-2"]),
        ({}, {}, {"openai:large": ["l"]}, ["judge openai:large: model version unknown, now l"]),
        ({}, {"hash": "ee" * 32}, {}, ["protocol hash abababab, now eeeeeeee"]),
        ({}, {"prompt_hashes": {"system": "00" * 32}}, {}, ["prompt system of protocol semantic"]),
        ({}, {"language": "ja", "version": "2"}, {}, ["protocol version 1.0, now 2", "protocol language en, now ja"]),
        ({}, {"name": "cross"}, {}, ["protocol name semantic, now cross"]),
    ],
)
def test_each_thing_that_changed_is_named(
    judge: dict[str, Any], protocol: dict[str, Any], models: dict[str, list[str]], named: list[str]
) -> None:
    """Judges, model versions, prompts, the protocol and its language."""
    judges = [changed(SMALL, **judge), LARGE]

    assert list(cascade().voided_by(judges, changed(PROTOCOL, **protocol), models)) == named


@each(
    ("edit", "named"),
    [
        (lambda text: text.replace("threshold = 1.0", "threshold = 0.5"), "threshold of large 1, now 0.5"),
        (lambda text: text.replace("threshold = 1.0\n", ""), "threshold of large 1, now none"),
        (lambda text: text.replace("agree = 0.95", "agree = 0.99", 1), "the file was edited after it was certified"),
        (lambda text: text.replace("price = 1.0", "price = 0.1"), "the file was edited after it was certified"),
        (lambda text: text.replace("repeats = 3", "repeats = 1"), "the file was edited after it was certified"),
        (lambda text: text.replace('["openai:small"]', '["openai:tiny"]'), "judge openai:tiny was not tested"),
    ],
)
def test_an_edited_file_is_no_certificate(
    tmp_path_factory: pytest.TempPathFactory, edit: Callable[[str], str], named: str
) -> None:
    """A threshold that nobody tested above all."""
    path = tmp_path_factory.mktemp("file") / "cascade.toml"
    write_cascade(path, cascade())
    text = path.read_text(encoding="utf-8")

    assert edit(text) != text
    path.write_text(edit(text), encoding="utf-8")
    assert read_cascade(path).voided_by([SMALL, LARGE], PROTOCOL) == (named,)


def test_tiers_in_another_order_are_another_cascade() -> None:
    """The second was tested on what the first leaves."""
    whole = cascade()
    turned = whole.model_copy(update={"tiers": whole.tiers[::-1]})

    assert turned.voided_by([SMALL, LARGE], PROTOCOL) == ("order of tiers small, large, now large, small",)


def test_raters_of_a_table_and_its_labels_are_known_by_name_only() -> None:
    """Nobody can tell them from changed ones."""
    whole = cascade()
    judges = tuple(changed(judge, digest=None) for judge in whole.certificate.judges)
    certificate = changed(whole.certificate, judges=judges, protocol=None)

    assert certificate.voided_by(whole.tiers, [SMALL, LARGE], PROTOCOL) == (
        "no protocol is known of the labels in first",
        "judge openai:small was known by its name only (first)",
        "judge openai:large was known by its name only (first)",
    )
