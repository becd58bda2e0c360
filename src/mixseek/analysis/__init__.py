"""What runs and tables of ratings amount to, as numbers: one answer, whoever asks.

Here belong ratings of a table or a run as one relation, and what is computed from them: headlines, agreement,
correction by labels, votes, boards, summaries, gates, and the types of these results. Nothing here words or draws
anything (`reports`), formulas that need no relation are in `stats`, and two runs are held together in `comparison`.
"""
