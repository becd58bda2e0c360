"""Votes between two responses, juries and leader boards: counted, and as results.

How a board looks is in `reports/ratings/boards.py`; the strengths themselves are computed in `stats/strengths`.
"""
