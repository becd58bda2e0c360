"""API keys: where they come from, where they may not stand, and how they are kept out of all that is written down."""
