"""Answers of a closed kind: options, numbers, yes or no, lists, brackets, mathematics; one reader each.

Which kind a ground truth is says `kinds.py` above.
"""
