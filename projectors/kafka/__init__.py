"""The log on Kafka: the relay publishes the log, and Faust workers feed the same processors from Kafka."""
