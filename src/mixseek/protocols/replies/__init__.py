"""A judge's reply, read: the one object in it, its fields, named repairs, refusals, copies, bundles.

What its values must be is said by the protocol that asked.
"""
