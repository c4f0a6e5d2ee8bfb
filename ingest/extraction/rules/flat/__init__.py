"""Notes that another memory wrote about the user: read as if the user had said them."""
