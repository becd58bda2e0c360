"""Who said what about which item, from a table or a run, and what `mixseek stats` makes of it.

Votes between two responses are `votes`; formulas are in `stats`.
"""
