"""Protocols with dimensions: rubric, cross and those of users."""
