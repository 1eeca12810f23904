"""What jobs can do, by kind; each calls the functions the command line calls."""

from wordsight.studio.tasks.add import add_video, look_again
from wordsight.studio.tasks.align import align_text
from wordsight.studio.tasks.compare import compare_word
from wordsight.studio.tasks.compare_rules import compare_rules
from wordsight.studio.tasks.examples import find_examples
from wordsight.studio.tasks.index import index_library
from wordsight.studio.tasks.learn import learn_words
from wordsight.studio.tasks.learn_rules import learn_rules
from wordsight.studio.tasks.make import make_file
from wordsight.studio.tasks.name import name_things
from wordsight.studio.tasks.queries import answer_queries
from wordsight.studio.tasks.search import search_meaning
from wordsight.studio.tasks.states import infer_states
from wordsight.studio.tasks.task import Task, Workplace
from wordsight.studio.tasks.teach import teach_words
from wordsight.studio.tasks.verify import verify_files

__all__ = ["TASKS", "Task", "Workplace"]

TASKS: dict[str, Task] = {
    "add": Task("Add {name}", add_video),
    "align": Task("Align a text", align_text, awaited=True),
    "compare": Task("Compare {entry} before and after", compare_word, awaited=True, aside=True),
    "compare-rules": Task("Compare rules", compare_rules, awaited=True, aside=True),
    "examples": Task("Find examples of {entry}", find_examples, awaited=True, aside=True),
    "index": Task("Index the library for searching", index_library, awaited=True),
    "learn": Task("Learn words", learn_words),
    "learn-rules": Task("Learn rules: {title}", learn_rules),
    "look": Task("Look again at {video}", look_again),
    "make": Task("{title}", make_file, awaited=True),
    "name": Task("Name things in {video}", name_things, awaited=True, aside=True),
    "queries": Task("Answer {count} queries", answer_queries, awaited=True),
    "search": Task("Look for: {text}", search_meaning, awaited=True, aside=True),
    "states": Task("Infer states of {video}", infer_states, awaited=True),
    "teach": Task("Learn from lessons", teach_words),
    "verify": Task("Check all files", verify_files),
}
"""All kinds of jobs."""
