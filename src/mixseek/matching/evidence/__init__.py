"""Quotes that a judge gives as evidence: whether they stand in the response, and where."""
