"""Tables in: answers, labels, counts, from any format, checked."""
