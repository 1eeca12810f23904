"""``python -m wordsight``: the same as the command ``wordsight``."""

from wordsight.cli.main import main

if __name__ == "__main__":
    main()
