"""Where clients come in: frames, intercepted or handed to the API that they are for."""
