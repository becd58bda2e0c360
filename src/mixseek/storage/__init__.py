"""What is written down: journal, manifest, reply cache, labels, workspace, and how DuckDB is opened.

What is read from it by subject stands above: `index`, `analysis`, `archive`.
"""
