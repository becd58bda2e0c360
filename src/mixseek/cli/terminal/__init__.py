"""What every command shares with its terminal: streams, progress, signals, failures and exit codes."""
