"""What is concluded from answers: the retrieval audit and its relatives."""
