"""How the teams of a competition stand."""
