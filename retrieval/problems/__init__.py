"""Problems as they are read: the present ones, and the history of one."""
