"""What one run comes to: headline, scores, account, agreement, gates, and the whole report as plain data."""
