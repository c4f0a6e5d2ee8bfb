"""One recall: the channels run side by side, then fusion, card resolution and overlay."""
