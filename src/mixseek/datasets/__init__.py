"""What is judged: files, folders and globs of rows, checked, turned into samples, and paired where two are judged.

Logs of other tools are rows, too (`importers`), and so are the sheets that people fill in. What becomes of a sample
afterwards does not belong here.
"""
