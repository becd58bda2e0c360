"""Reports on a terminal: tables, a run, one sample, and how far judges can be trusted."""
