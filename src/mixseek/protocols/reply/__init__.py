"""Reading a reply: one JSON object out of whatever a judge wrote."""
