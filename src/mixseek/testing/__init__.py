"""A judge that is not real: the mock endpoint of `mixseek serve-mock`, and its replies. For tests and tours only.

Nothing in the product depends on it but the command that starts it.
"""
