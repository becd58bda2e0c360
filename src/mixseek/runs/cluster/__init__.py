"""A run on Ray: the side of the command, and what runs on the nodes.

Ray itself is an extra, and loaded only where a run asks for it.
"""
