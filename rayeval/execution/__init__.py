"""Steps, their content-addressed outputs, and who computes them: local processes or Ray."""
