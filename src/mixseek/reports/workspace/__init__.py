"""Lists of what a workspace holds, in words and for programs: runs, answer runs, batches, spending."""
