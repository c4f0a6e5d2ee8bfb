"""English names of calendar periods: years, seasons, weekdays, holidays."""
