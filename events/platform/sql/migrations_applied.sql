SELECT name FROM log.migrations;
