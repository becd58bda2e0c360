"""One sample before its judges, then many: cascade, batches, processes, resume."""
