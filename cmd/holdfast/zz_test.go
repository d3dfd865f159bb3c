package main

import (
	_ "github.com/creack/pty"
	_ "github.com/hinshun/vt10x"
)
