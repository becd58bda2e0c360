"""The viewer: pages and JSON over the runs of a workspace, for whoever holds the link."""
