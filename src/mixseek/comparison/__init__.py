"""B against A: two runs, targets or variants, sample by sample; a run against its baseline; several runs side by side.

Here belong the pairs and what they come to, whether a run fell too far behind, what a judged run comes to beside its
gates and its baseline, and the words, sections and page of all that. How a difference is estimated is `stats`; what
one run amounts to is `analysis`, and what it shows is `reports`.
"""
