"""What runs and tables of ratings amount to, as numbers.

Here belong the index of a run and its SQL, ratings of a table or a run as one relation, and what is computed from them:
means, agreement, correction by labels, votes, gates, and the types of results. Nothing here words or draws anything
(`reporting`), and formulas that need no relation are in `stats`.
"""
