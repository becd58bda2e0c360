"""Who answers: rules, recorded replies, Python functions, endpoints, models in this process.

How often and how fast they are asked is `engine`; what is asked and what a reply must be is `protocols`.
"""
