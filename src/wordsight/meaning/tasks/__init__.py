"""What a learned lexicon is used for: scoring, tracking, explaining, describing, searching."""
