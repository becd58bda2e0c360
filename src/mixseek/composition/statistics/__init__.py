"""Statistics of ratings, votes and comparisons: from a table or a run to what is said."""
