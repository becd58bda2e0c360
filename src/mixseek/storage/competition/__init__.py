"""The leader board of a competition in DuckDB."""
