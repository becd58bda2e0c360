"""How sure judges are, and what labels make of it: from probabilities in a table, or from the confidences of a run.

Formulas are in `stats`; what a confidence is says `domain.confidence`.
"""
