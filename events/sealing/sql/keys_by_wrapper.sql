SELECT encode(substring(wrapped FOR 8), 'hex'), count(*) FROM sealing.subject_keys GROUP BY 1;
