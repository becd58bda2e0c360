"""A run from its request to its seal: in this process, waiting for endpoints, or on a Ray cluster."""
