package main

import "os"

// scratch makes a directory that is removed by whoever asked for it. Its path is short:
// that of a unix socket may have no more than 107 bytes.
func scratch(purpose string) string {
	dir, err := os.MkdirTemp("", "chaos-"+purpose+"-")
	if err != nil {
		panic(err)
	}
	return dir
}
