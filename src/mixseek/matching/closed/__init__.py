"""Answers of a closed kind: options, booleans, numbers, lists."""
