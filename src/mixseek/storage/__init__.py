"""Datasets in, journal and index in between, exports out."""
