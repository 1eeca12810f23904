"""What jobs can do, by kind; each calls the functions the command line calls."""

from wordsight.studio.tasks.add import add_video
from wordsight.studio.tasks.align import align_text
from wordsight.studio.tasks.compare import compare_word
from wordsight.studio.tasks.index import index_library
from wordsight.studio.tasks.learn import learn_words
from wordsight.studio.tasks.states import infer_states
from wordsight.studio.tasks.task import Task, Workplace
from wordsight.studio.tasks.teach import teach_words

__all__ = ["TASKS", "Task", "Workplace"]

TASKS: dict[str, Task] = {
    "add": Task("Add {name}", add_video),
    "align": Task("Align a text", align_text, awaited=True),
    "compare": Task("Compare {entry} before and after", compare_word, awaited=True),
    "index": Task("Index the library for searching", index_library, awaited=True),
    "learn": Task("Learn words", learn_words),
    "states": Task("Infer states of {video}", infer_states, awaited=True),
    "teach": Task("Learn from lessons", teach_words),
}
"""All kinds of jobs."""
