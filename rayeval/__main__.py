"""`python -m rayeval`, where the script `rayeval` is not on the path."""

from rayeval.cli.main import main

if __name__ == "__main__":
    main()
