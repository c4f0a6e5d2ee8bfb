"""Names of one thing in English and in Chinese: places, languages, organisations, occupations."""
