"""What stands between the network and the routes of a service: connections, requests, room, the description."""
