"""Locate, normalise and compare answers; pure text in, a decision with its reasons out."""
