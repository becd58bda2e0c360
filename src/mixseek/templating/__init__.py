"""Strict, sandboxed prompt templates, and fences that judged text cannot close."""
