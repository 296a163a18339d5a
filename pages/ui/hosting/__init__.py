"""How the pages are served: who may reach them, what a browser may do, what uploads may take."""
