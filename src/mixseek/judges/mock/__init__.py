"""A loopback endpoint to try everything on."""
