"""What a protocol file says, and what can be wrong with it."""
