"""What agents left: spans, runs and histories of whole runs, each of which is one sample with its steps."""
