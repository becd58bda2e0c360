"""What is judged: files, folders and globs of rows, checked, turned into samples, and paired where two are judged.

Logs of other tools are rows, too (`importers`), and so are those that a program has in memory. Sheets that people fill
in are `labels`, what was planned to be judged is `runs`; what becomes of a sample afterwards does not belong here.
"""
