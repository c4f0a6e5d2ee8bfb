ANALYZE entries, problems;
