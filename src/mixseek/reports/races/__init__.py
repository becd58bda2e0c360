"""Competitions and evaluations in words: boards, curves, sections. Their pages are in `pages`."""
