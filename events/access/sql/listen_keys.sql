LISTEN cardlog_keys;
