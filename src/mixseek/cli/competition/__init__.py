"""Commands about teams: competitions, their evaluator, leader boards."""
