"""Checks: rules on the steps and the final answer of a sample that need no judge; pure, and microseconds each.

What a check may ask for, how it is written and what it finds belong here. Who runs them beside a judge is known in
`protocols`, what a run counts of them in `analysis`. Nothing here reads a file: who declares a check brings its schema.
"""
