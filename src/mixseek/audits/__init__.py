"""Judges examined like instruments: the same sample changed under control, judged again, and the card of it.

Statistics of an audit are in `stats/audits.py`; how a card looks is in `views.py`.
"""
