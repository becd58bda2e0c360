"""What is asked of a judge, and every rule that its reply must satisfy; pure."""
