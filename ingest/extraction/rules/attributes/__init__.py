"""States in open vocabulary: "the wifi password is …", 讀書會改到…: any attribute gets a concept key of its own."""
