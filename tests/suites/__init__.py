"""Tests of other frameworks, over a whole Cardlog. `make test-suites` installs what they need."""
