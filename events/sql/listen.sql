LISTEN cardlog_log;
