DELETE FROM log.blueprints b WHERE b.projection = {projection}
    AND (b.kind, b.step, b.script) NOT IN (SELECT w.kind, w.step, w.script FROM (VALUES {steps}) AS w(projection, kind, step, script));
INSERT INTO log.blueprints (projection, kind, step, script)
SELECT * FROM (VALUES {steps}) AS w(projection, kind, step, script) ON CONFLICT DO NOTHING;
