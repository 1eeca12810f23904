"""The files of a library: a folder or a bucket, local copies, and checks."""
