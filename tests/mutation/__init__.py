"""Mutation: removes the guards of the code one by one, and expects the tests to notice. `make guards` runs it."""
