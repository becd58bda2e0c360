"""How a judge is called before a reader: everywhere the same."""

from collections.abc import Mapping, Sequence


def label_judges(judges: Sequence[str], models: Mapping[str, str]) -> dict[str, str]:
    """Each judge by the model whose recorded replies it brings, unless another one is called so, too.

    `models` has those judges whose recorded replies are all one model's.
    """
    labels = {judge: models.get(judge, judge) for judge in judges}
    called = list(labels.values())
    return {judge: label if called.count(label) == 1 else judge for judge, label in labels.items()}
