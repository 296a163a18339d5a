"""Many runs of one prompt: the same request again, or a grid over two settings."""
