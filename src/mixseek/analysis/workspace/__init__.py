"""What a workspace holds, without opening any run: lists of runs, their kept headlines, what was spent."""
