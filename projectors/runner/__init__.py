"""The runner: folds the events of the log into the tables of one projection."""
