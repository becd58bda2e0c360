"""How a judge is called before a reader: everywhere the same."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence


def sole_models(brought: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Judges of several runs that bring the replies of one model in all of them."""
    models: dict[str, set[str]] = defaultdict(set)
    for judge, model in brought:
        models[judge].add(model)
    return {judge: min(names) for judge, names in models.items() if len(names) == 1}


def label_judges(judges: Sequence[str], models: Mapping[str, str]) -> dict[str, str]:
    """Each judge by the model whose recorded replies it brings, unless another one is called so, too.

    `models` has those judges whose recorded replies are all one model's.
    """
    labels = {judge: models.get(judge, judge) for judge in judges}
    called = list(labels.values())
    return {judge: label if called.count(label) == 1 else judge for judge, label in labels.items()}
