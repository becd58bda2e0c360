"""Commands only parse, call and print. A file is named after what a person types, a folder after what that is for.

Whatever could be wanted from Python as well belongs below.
"""
