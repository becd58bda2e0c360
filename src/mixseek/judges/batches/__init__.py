"""Batches as providers take them: one file a wire, one door to the host, one reader of what comes back."""
