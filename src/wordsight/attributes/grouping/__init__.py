"""Finding the words of the lessons, and which words name the same attribute."""
