"""Commands that read what is there: reports, comparisons, statistics, labels, runs, the viewer."""
