DELETE FROM erasure.retention WHERE tenant = %(tenant)s AND mode = %(mode)s;
