"""Instructions whose keeping a rule can check, and benign requests that must not be refused."""
