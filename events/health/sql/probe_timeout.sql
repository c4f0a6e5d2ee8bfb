-- Looking must not pile up on a server that is busy with something else.
SET statement_timeout = '5s';
