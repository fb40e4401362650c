"""What `rayeval golden` does with a golden set and the documents it is about."""
