"""Ground truths that are mathematics: read them into a tree, evaluate, compare; no eval, no symbolic library."""
