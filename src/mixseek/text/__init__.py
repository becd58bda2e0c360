"""Words and characters that every sentence needs: counts, values, ids, and what judged text may hide. Pure.

What reports say is in `reports/wording`; what rules read in a response is in `matching`.
"""
