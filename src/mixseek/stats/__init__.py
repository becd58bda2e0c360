"""Numbers with their uncertainty: pure, and small enough to check by hand."""
