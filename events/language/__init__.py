"""Language analysis for extraction and recall: terms, concepts, values, Chinese script, time expressions."""
