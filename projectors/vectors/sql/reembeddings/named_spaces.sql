SELECT slot, name, fingerprint FROM vectors.spaces;
