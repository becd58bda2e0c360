"""A run's index: a DuckDB file beside the journal, made from it and thrown away at will, and what is asked of it.

SQL over judgments belongs here: loading, rows, panels, pairs, exports. What the counts mean is said in `analysis`.
"""
