"""Whole jobs in one file, a file to begin with, and what is wrong with an installation."""
