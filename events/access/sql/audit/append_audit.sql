SELECT audit.append(%(batch)s::json);
