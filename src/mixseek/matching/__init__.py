"""Locate, normalise and compare answers; pure text in, a decision with its reasons out.

Nothing here knows a judge or a protocol. Its digest names the rules of a run.
"""
