"""Did the model predict this property, or recite the published number?"""
