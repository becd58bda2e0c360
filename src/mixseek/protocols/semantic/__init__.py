"""The semantic protocol of seed 001."""
