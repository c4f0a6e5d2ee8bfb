"""English names of stretches of the calendar: years, seasons, weekdays, holidays."""
