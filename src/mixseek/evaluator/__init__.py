"""Metrics that score a submission, each through the engine."""
