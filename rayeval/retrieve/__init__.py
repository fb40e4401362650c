"""Search: which chunks answer a question, by words (`lexical`) and by meaning (`dense`)."""
