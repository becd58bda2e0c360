"""Logs of other tools, recognised by their content and read as rows: one reader for each kind of log."""
