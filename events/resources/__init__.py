"""The models of what the services answer: each field of a resource has one place, and every other form is made of it.

A route returns a model, so its annotation is the shape of its answer. The OpenAPI documents come from the models, and
the types of the client from the OpenAPI documents.
"""
