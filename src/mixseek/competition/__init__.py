"""Teams before one task: the race and its parts, the store of what was submitted, boards, and the evaluator alone.

The rounds of one team are led by `round_controller`; metrics are in `evaluator`; how a board looks is in `views`.
"""
