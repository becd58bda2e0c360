"""From what is typed to options: how our commands differ from typer's, and names that were understood before."""
