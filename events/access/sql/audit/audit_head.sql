SELECT position, digest FROM audit.head;
