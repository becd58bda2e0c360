"""Teams in parallel, round after round."""
