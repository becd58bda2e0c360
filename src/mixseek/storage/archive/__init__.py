"""One JSON file for each judgment, written and checked."""
