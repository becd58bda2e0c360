"""Runs that are there: read, compared, held against gates, listed and swept."""
