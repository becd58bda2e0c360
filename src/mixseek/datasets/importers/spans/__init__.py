"""Spans of every tracer: what each convention calls things, and one timeline that is made of them.

Nothing here knows a file: a format reads the spans, and says what conversation they belong to.
"""
