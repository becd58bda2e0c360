"""Numbers with their uncertainty: pure, and small enough to check by hand.

Formulas over counts and sums belong here; which counts a result needs is known in `analysis`.
"""
