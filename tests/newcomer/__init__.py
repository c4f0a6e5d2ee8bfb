"""What a newcomer does with the README only. `make test-readme` runs it."""
