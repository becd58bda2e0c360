"""What is asked of a judge, and every rule that its reply must satisfy; pure.

Prompts, declarations, parsing and arithmetic of scores belong here; who is asked does not.
"""
