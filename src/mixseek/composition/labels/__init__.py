"""What people say about judged texts: sheets, labels given in the viewer, and what both make of the headline."""
