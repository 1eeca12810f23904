"""Workflows: one function per verb, called by the command line, the studio and Python alike.

Each verb has a module with a request (its settings), a result and the function between them:

    learn: words with meanings from a library's videos and sentences.

:mod:`~wordsight.workflows.settings` declares settings, :mod:`~wordsight.workflows.workflow` makes a
function of a request callable from everywhere, and :mod:`~wordsight.workflows.reporter` carries
notes, warnings and progress.
"""
