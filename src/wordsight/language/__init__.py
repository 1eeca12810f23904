"""Words: the texts that come with videos, and what they say."""
