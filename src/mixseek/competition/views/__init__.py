"""Competitions and evaluations as people see them: boards, curves, sections and their page."""
