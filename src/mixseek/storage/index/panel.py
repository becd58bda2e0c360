"""One row a sample: what all of its judges amount to, under a rule. Every headline, gate and comparison reads this.

`panel_units` is the text of a query, so that it can be asked of the open index, or of several attached ones.
"""

from mixseek.domain.panels import PanelRule
from mixseek.storage.duckdb_session import read_statements

_SQL = read_statements("mixseek.storage.index", "panel.sql")
# How many of those who were heard must have said the same, and when that holds even without what is unverified.
_ENOUGH = {
    PanelRule.MAJORITY: ("most * 2 > heard", "winner.verified * 2 > heard"),
    PanelRule.UNANIMOUS: ("heard > 0 AND most = heard", "winner.verified = heard"),
}


def settle(source: str, by: str, rule: PanelRule | None) -> str:
    """The rule applied to the rows of `source` that agree in the columns `by`; without a rule, one judge's mean."""
    parts = {"source": source, "by": by, "best_state": _SQL["best_state"]}
    if rule is None:
        return _SQL["alone"].format(**parts)
    if rule in _ENOUGH:
        enough, verified = _ENOUGH[rule]
        return _SQL["voted"].format(enough=enough, verified=verified, **parts)
    return _SQL[rule.value].format(**parts)


def opinions(rule: PanelRule | None, index: str = "main", *, has_repeats: bool = True) -> str:
    """One row a sample and judge: its repeats brought to one opinion; without repeats, each take is one."""
    takes = _SQL["takes"].format(index=index, final_only=rule is None)
    return settle(takes, "sample, judge", rule) if has_repeats else takes


def panel_units(rule: PanelRule | None, index: str = "main", *, has_repeats: bool = True) -> str:
    """One row a sample: key, sample (its position), id, question, target, variant, task_name, task_type, language,
    output_id, value (NULL without a verdict), lowest, highest, state (`PanelState`), verdict, is_unverified, voices.

    `rule` is None for one judge and for a cascade, whose last judge has the last word. `index` names the database;
    `has_repeats=False` saves a step where no judge was asked twice.
    """
    if rule is None:
        settled = settle(_SQL["takes"].format(index=index, final_only=True), "sample", None)
    else:
        settled = settle(opinions(rule, index, has_repeats=has_repeats), "sample", rule)
    return _SQL["units"].format(settled=settled, index=index)
