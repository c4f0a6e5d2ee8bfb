"""The log on Kafka: a relay that publishes it, and Faust workers that feed the same processors from there."""
