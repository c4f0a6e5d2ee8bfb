"""The formats of the fields of a request. Each format takes what its part of the OpenAPI document says."""
