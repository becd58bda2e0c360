"""Environment > mixseek.toml > default, checked before anything runs."""
