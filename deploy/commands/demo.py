def register(s):
    pass
