"""What logs are made of: JSON that is walked and not loaded, rows that may end in the middle, tables, members of a zip.

Nothing here holds more than one sample in memory, knows a tool by its name, or hides that a file is cut short.
"""
