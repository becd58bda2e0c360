"""Commands that say how far judges can be trusted: cards, labels by people, and statistics of either."""
