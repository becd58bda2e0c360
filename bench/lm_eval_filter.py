"""The filter with which lm-eval takes a choice from a chain of thought, as a peer of the rules.

`flexible-extract` of its BIG-Bench Hard tasks with choices: the last `(A)`, else the words of a choice, else a letter.
`make bench` installs lm-eval apart and without what it depends on, because the filter needs none of it.
"""

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

Row = Mapping[str, str]
# Where `make bench` puts what our own environment is not to know of.
PEERS = Path(__file__).resolve().parents[1] / ".cache" / "peers"
_CHOICE = re.compile(r"\([A-Z]\)")


def has_choices(row: Row) -> bool:
    """Whether the right answer is a letter in brackets, as that filter wants it."""
    return _CHOICE.fullmatch(row["ground_truth"].strip()) is not None


def load_filter() -> Callable[[Row], object] | None:
    """What a task does with each response; None where lm-eval is not installed."""
    sys.path.append(str(PEERS))
    package = importlib.util.find_spec("lm_eval")
    if package is None or package.origin is None:
        return None
    tasks = load_module(Path(package.origin).parent / "tasks/bbh/cot_zeroshot/utils.py")
    # As its files for these tasks say.
    flexible: Any = tasks.MultiChoiceRegexFilter(
        regex_pattern="(\\([A-Z]\\))", group_select=-1, ignore_case=True, ignore_punctuation=True
    )
    return lambda row: flexible.apply([[row["response"]]], [{"input": row["question"]}])


def load_module(path: Path) -> ModuleType:
    """The module behind a file: the folder of the tasks is no package that could be imported without torch."""
    spec = importlib.util.spec_from_file_location("lm_eval_bbh", path)
    assert spec is not None, path
    assert spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
