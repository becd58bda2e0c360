"""One sample before its judges, then many: cascade, batches, processes, resume; limits, retries and budgets of calls.

Which judges, datasets and protocols there are is not known here: they come in as ports.
"""
