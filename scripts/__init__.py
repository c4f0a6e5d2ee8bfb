"""Build models, name tables, pictures, the site and the bill of materials. A checkout has them, the wheel does not."""
