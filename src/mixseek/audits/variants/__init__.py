"""Controlled variants of a sample: which there are, what is done to a text, and the words that are put into it."""
