"""From Python: what the command line does, without a terminal. The doors are in `mixseek/__init__.py`.

Signatures, options and results for programs belong here; what they do is below.
"""
