"""What programs read: the keys of every JSON document, declared once, and the JSON Schema that is made of them.

A document itself is made where its result is known (`reports`, a feature's room); here stands what it promises.
"""
