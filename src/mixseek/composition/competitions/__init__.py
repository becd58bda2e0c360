"""Competitions, and evaluations without one: from their files to what is asked, stored and shown."""
