"""The threads of a user: topics that go on over sessions."""
