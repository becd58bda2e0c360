"""Requests that are left with a provider by the hundred: written down, submitted, found again, collected."""
