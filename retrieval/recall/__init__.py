"""One recall: channels side by side, fusion, resolution, overlay."""
