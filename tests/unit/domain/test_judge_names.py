"""How judges are called before a reader."""

import pytest

from mixseek.domain.judge_names import label_judges


@pytest.mark.parametrize(
    ("judges", "models", "labels"),
    [
        (["rules", "replay:k.jsonl"], {"replay:k.jsonl": "kiri"}, ["rules", "kiri"]),
        (["replay:a.jsonl", "replay:b.jsonl"], {}, ["replay:a.jsonl", "replay:b.jsonl"]),
        # Two that bring the same model's replies, and one that is that model, could not be told apart.
        (["replay:a.jsonl", "replay:b.jsonl"], dict.fromkeys(["replay:a.jsonl", "replay:b.jsonl"], "kiri"), None),
        (["kiri", "replay:a.jsonl"], {"replay:a.jsonl": "kiri"}, None),
    ],
)
def test_a_judge_is_called_by_its_model_where_nobody_else_is(
    judges: list[str], models: dict[str, str], labels: list[str] | None
) -> None:
    assert list(label_judges(judges, models).items()) == list(zip(judges, labels or judges, strict=True))
