"""The viewer: pages and JSON over the runs of a workspace, for whoever holds the link.

Routes, security, languages and what is slow to make belong here; pages are rendered in `reports`.
"""
