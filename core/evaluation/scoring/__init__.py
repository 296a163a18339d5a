"""What makes a reply right: text metrics, numbers, and the reference's log-likelihood."""
