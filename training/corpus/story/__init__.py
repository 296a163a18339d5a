"""The words, the plots and the small grammar that the stories are built from."""
