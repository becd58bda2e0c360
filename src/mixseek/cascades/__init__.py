"""Cascades with a guarantee: which judge may decide what, on which labels that rests, and what voids it.

Here belong the readings that a plan is made from (runs, or a table of ratings), the plan as users ask for it,
`cascade.toml` with its certificate, and what is shown of them (`views`). How thresholds are tested is
`stats/cascades.py`; how a judge's confidence arises is `domain/confidence.py`; who asks judges is `runs` and `engine`.
"""
