"""Prompts for teams, the evaluator and the judge of progress (seed 004)."""
