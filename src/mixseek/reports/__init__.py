"""Results in words, pictures and documents: for a terminal, as a page, as JSON, for build servers.

Everything that a person or a program reads of a result is written here and nowhere else; numbers come from `analysis`
and are never computed here. What serves pages over HTTP is `web`.
"""
