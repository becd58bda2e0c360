"""Commands only parse, call and print. A file is named after what a person types.

Whatever could be wanted from Python as well belongs below.
"""
