package main

const (
	// sysSyncfs is the number of syncfs(2), which the standard library does not have.
	sysSyncfs = 267
	// loaderName is the loader's own name, by which the program knows that it was started so.
	loaderName = "ld-linux-aarch64.so.1"
)
