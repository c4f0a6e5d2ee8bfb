SELECT log.let_read(current_schema());
