"""What jobs can do, by kind; each calls the functions the command line calls."""

from wordsight.studio.jobs.align import align_text
from wordsight.studio.jobs.attributes import name_things, teach_words
from wordsight.studio.jobs.exports import make_file
from wordsight.studio.jobs.lexicon import compare_word, learn_words, show_examples
from wordsight.studio.jobs.library import (
    add_demo,
    add_video,
    look_again,
    make_playable,
    verify_files,
)
from wordsight.studio.jobs.live import watch_live
from wordsight.studio.jobs.questions import (
    answer_queries,
    answer_question,
    index_library,
    search_meaning,
)
from wordsight.studio.jobs.states import compare_rules, infer_states, learn_rules
from wordsight.studio.jobs.task import JobContext, JobKind

__all__ = ["JOB_KINDS", "JobContext", "JobKind"]

JOB_KINDS: dict[str, JobKind] = {
    "add": JobKind("Add {name}", add_video),
    "align": JobKind("Align a text", align_text, awaited=True),
    "ask": JobKind("Answer a question", answer_question, awaited=True, aside=True, warm=True),
    "compare": JobKind("Compare {entry} before and after", compare_word, awaited=True, aside=True),
    "compare-rules": JobKind("Compare rules", compare_rules, awaited=True, aside=True),
    "demo": JobKind("Render the demo", add_demo, awaited=True),
    "examples": JobKind("Find examples of {entry}", show_examples, awaited=True, aside=True),
    "index": JobKind("Index the library for searching", index_library, awaited=True),
    "learn": JobKind("Learn words", learn_words),
    "learn-rules": JobKind("Learn rules: {title}", learn_rules),
    "look": JobKind("Look again at {video}", look_again),
    "make": JobKind("{title}", make_file, awaited=True),
    "name": JobKind("Name things in {video}", name_things, awaited=True, aside=True),
    "play": JobKind("Make {video} playable", make_playable, awaited=True, aside=True),
    "queries": JobKind("Answer {count} queries", answer_queries, awaited=True),
    "search": JobKind("Look for: {text}", search_meaning, awaited=True, aside=True, warm=True),
    "states": JobKind("Infer states of {video}", infer_states, awaited=True),
    "teach": JobKind("Learn from lessons", teach_words),
    "verify": JobKind("Check all files", verify_files),
    "watch": JobKind("Watch for: {sentences[0]}", watch_live, lasting=True),
}
"""All kinds of jobs."""
