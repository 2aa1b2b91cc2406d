"""One pure module per wire dialect: a call to a request body, a response to an outcome."""
