"""Arms that are somebody else's search: a service, or code of the user's own."""
