SELECT rolsuper, rolbypassrls, rolname = current_user FROM pg_roles WHERE rolname = %(role)s;
