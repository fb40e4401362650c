"""Systems of the user's own, asked while a run goes on: services over HTTP, and Python code."""
