"""B against A: two runs, targets or variants, sample by sample, and a run against its baseline."""
