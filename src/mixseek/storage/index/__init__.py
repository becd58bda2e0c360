"""DuckDB over a journal: built from it, asked, exported, thrown away at will."""
