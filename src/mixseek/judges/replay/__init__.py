"""Replies recorded elsewhere."""
