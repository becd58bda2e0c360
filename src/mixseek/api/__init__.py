"""From Python: what the command line does, without a terminal. The doors are in `mixseek/__init__.py`."""
