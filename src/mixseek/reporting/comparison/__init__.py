"""Two sides of a comparison: told, and as a page."""
