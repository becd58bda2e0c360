"""Competitions and evaluations in words: boards, curves, terminal. Their pages are in `pages`."""
