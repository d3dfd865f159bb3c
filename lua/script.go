package lua

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"io/fs"
)

//go:embed *.lua
var sources embed.FS

// A Script is one embedded .lua file. Scripts are immutable.
type Script struct {
	Name   string // the file's name without .lua
	Source string
	SHA    string // what EVALSHA calls it by
}

var (
	acquireScript = load("acquire", "clock", "guard", "token")
	releaseScript = load("release", "clock")
	extendScript  = load("extend")
	fenceScript   = load("fence")
	repairScript  = load("repair", "clock", "guard")
	inspectScript = load("inspect", "clock", "guard")
	wakeScript    = load("wake")
	probeScript   = load("probe")

	fairAcquireScript = load("fair_acquire", "clock", "guard", "token", "queue")
	fairReleaseScript = load("fair_release", "clock", "queue")
	fairYieldScript   = load("fair_yield", "clock", "queue")
	fairSettleScript  = load("fair_settle", "clock", "queue")
	fairBeatScript    = load("fair_beat", "clock", "queue")
)

// load reads a script, behind the libraries that it uses.
func load(name string, libraries ...string) *Script {
	var source []byte
	for _, file := range append(libraries, name) {
		part, err := fs.ReadFile(sources, file+".lua")
		if err != nil {
			panic(err) // the file is embedded: this cannot happen once it has built
		}
		source = append(source, part...)
	}
	// Redis names scripts by their SHA-1; nothing here depends on its strength.
	sum := sha1.Sum(source)
	return &Script{Name: name, Source: string(source), SHA: hex.EncodeToString(sum[:])}
}
