"""Environment > mixseek.toml > default, checked before anything runs.

What can be set, and in which files; what the settings do is known where they are used.
"""
