"""Commands only parse, call and print."""
