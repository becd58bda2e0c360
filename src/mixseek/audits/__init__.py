"""Judges examined like instruments: the same sample, changed under control."""
