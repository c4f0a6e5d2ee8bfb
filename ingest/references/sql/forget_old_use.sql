DELETE FROM log.reference_use WHERE day < %(today)s::date - greatest(%(pin_days)s, %(archive_days)s, 1) - 1;
