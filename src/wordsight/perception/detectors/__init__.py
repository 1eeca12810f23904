"""The detectors that come with Wordsight, one file each; found by name through entry points."""
