"""Logs of other tools, recognised by their content and read as rows.

`formats` has one file for each kind of log, `reading` what files are made of (JSON, rows, tables, zips), `samples` what
every format is turned into. `registry.py` knows all formats. What a dataset of our own looks like does not belong here.
"""
