"""Commands of competitions and evaluations."""
