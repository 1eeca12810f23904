"""Files that people send to the studio: checked, named and kept until a job takes them."""
