SELECT slot, name, fingerprint FROM spaces;
