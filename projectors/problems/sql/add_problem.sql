INSERT INTO problems (user_id, problem_id, project_id, mode, description, status, priority, opened_at, updated_at,
                      closed_at, resolution, attempts, turn_ids, version, position)
VALUES (%(user_id)s, %(problem_id)s, %(project_id)s, %(mode)s, %(description)s, %(status)s, %(priority)s, %(opened_at)s,
        %(updated_at)s, %(closed_at)s, %(resolution)s, %(attempts)s, %(turn_ids)s, %(version)s, %(position)s);
