"""One file for each kind of log: how it shows in its first bytes, and how its samples are read.

A rule that two formats share stands in `samples` or `reading`.
"""
