"""A model behind an HTTP endpoint: address, wire formats, errors, calls."""
