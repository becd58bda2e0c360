"""What was found, as numbers and nothing else: pure, and told to nobody yet."""
