"""What a run found, as data first; terminal and HTML are renderings of it."""
