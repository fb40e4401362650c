"""The commands: thin layers over the Python API."""
