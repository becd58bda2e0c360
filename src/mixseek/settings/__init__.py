"""Environment > mixseek.toml > default, checked before anything runs.

What can be set, in which files and by which options; what the settings do is known where they are used.
"""
