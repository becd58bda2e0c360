"""Judge cards: made, read and demanded."""
