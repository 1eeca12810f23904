"""What jobs can do, by kind; each calls the functions the command line calls."""

from wordsight.studio.jobs.add import add_video, look_again
from wordsight.studio.jobs.align import align_text
from wordsight.studio.jobs.compare import compare_word
from wordsight.studio.jobs.compare_rules import compare_rules
from wordsight.studio.jobs.examples import find_examples
from wordsight.studio.jobs.index import index_library
from wordsight.studio.jobs.learn import learn_words
from wordsight.studio.jobs.learn_rules import learn_rules
from wordsight.studio.jobs.make import make_file
from wordsight.studio.jobs.name import name_things
from wordsight.studio.jobs.search import answer_queries, search_meaning
from wordsight.studio.jobs.states import infer_states
from wordsight.studio.jobs.task import JobContext, JobKind
from wordsight.studio.jobs.teach import teach_words
from wordsight.studio.jobs.verify import verify_files

__all__ = ["JOB_KINDS", "JobContext", "JobKind"]

JOB_KINDS: dict[str, JobKind] = {
    "add": JobKind("Add {name}", add_video),
    "align": JobKind("Align a text", align_text, awaited=True),
    "compare": JobKind("Compare {entry} before and after", compare_word, awaited=True, aside=True),
    "compare-rules": JobKind("Compare rules", compare_rules, awaited=True, aside=True),
    "examples": JobKind("Find examples of {entry}", find_examples, awaited=True, aside=True),
    "index": JobKind("Index the library for searching", index_library, awaited=True),
    "learn": JobKind("Learn words", learn_words),
    "learn-rules": JobKind("Learn rules: {title}", learn_rules),
    "look": JobKind("Look again at {video}", look_again),
    "make": JobKind("{title}", make_file, awaited=True),
    "name": JobKind("Name things in {video}", name_things, awaited=True, aside=True),
    "queries": JobKind("Answer {count} queries", answer_queries, awaited=True),
    "search": JobKind("Look for: {text}", search_meaning, awaited=True, aside=True),
    "states": JobKind("Infer states of {video}", infer_states, awaited=True),
    "teach": JobKind("Learn from lessons", teach_words),
    "verify": JobKind("Check all files", verify_files),
}
"""All kinds of jobs."""
