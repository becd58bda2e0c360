"""What every format is turned into: samples with their names, answers and grades, and the values they are read from.

Nothing here opens a file.
"""
