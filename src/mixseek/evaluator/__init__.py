"""Metrics that score a submission, each through the engine; seed 004 prescribes them.

Who submits, and when, is `round_controller`.
"""
