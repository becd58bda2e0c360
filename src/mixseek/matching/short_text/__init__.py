"""Answers that are a name, a date or a few words."""
