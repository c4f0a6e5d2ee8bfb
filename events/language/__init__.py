"""What words mean, for writing and asking alike: terms, concepts, values, scripts, time expressions."""
