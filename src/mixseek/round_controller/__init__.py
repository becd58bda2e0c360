"""Whether a team goes on: its rounds, the model's opinion, and the decision beside it.

The race as a whole, its store and its boards are in `competition`.
"""
