"""The command line: each command parses, calls one function of the package and shows the answer.

Command modules import nothing heavy at the top, so that ``wordsight --help`` answers at once.
"""
