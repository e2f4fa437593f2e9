package main

const (
	// sysSyncfs is the number of syncfs(2), which the standard library does not have.
	sysSyncfs = 306
	// loaderName is the loader's own name, by which the program knows that it was started so.
	loaderName = "ld-linux-x86-64.so.2"
)
