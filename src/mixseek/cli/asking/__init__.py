"""Commands that judge, answer or audit, and what they need: jobs, protocols, judges, caches, batches."""
