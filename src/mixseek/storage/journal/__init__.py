"""The truth of a run: journal, manifest, and what they remember."""
