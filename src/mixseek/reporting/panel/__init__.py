"""What a run says of its targets with one verdict a sample, and how far its judges can be trusted."""
