"""Ratings of anybody's making, in words and for programs: statistics, votes, leader boards."""
