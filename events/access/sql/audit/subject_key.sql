SELECT key FROM audit.subject_key;
