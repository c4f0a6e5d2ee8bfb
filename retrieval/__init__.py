"""The read service: channels, fusion, rerank and the HTTP answer."""
