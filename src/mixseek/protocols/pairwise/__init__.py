"""Protocols that ask which of two responses is better."""
