"""What jobs can do, by kind; each calls the functions the command line calls."""

from wordsight.studio.tasks.add import add_video
from wordsight.studio.tasks.align import align_text
from wordsight.studio.tasks.learn import learn_words
from wordsight.studio.tasks.task import Task, Workplace

__all__ = ["TASKS", "Task", "Workplace"]

TASKS: dict[str, Task] = {
    "add": Task("Add {name}", add_video),
    "align": Task("Align a text", align_text),
    "learn": Task("Learn words", learn_words),
}
"""All kinds of jobs."""
