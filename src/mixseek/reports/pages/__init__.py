"""Self-contained HTML: nothing is fetched, and no judged text breaks out of its place."""
