"""Who answers: rules, or replies recorded elsewhere."""
