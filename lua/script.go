package lua

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"io/fs"
	"iter"
	"slices"
	"strings"
)

//go:embed *.lua
var sources embed.FS

// A Script is one embedded .lua file. Scripts are immutable.
type Script struct {
	Name   string // the file's name without .lua
	Source string
	SHA    string // what EVALSHA calls it by
	sha    any    // is SHA: each call has it among its arguments, and to make an any of a string allocates
	batch  byte   // its number in batch.lua, from 1; 0: it is not there
}

var (
	acquireScript = load("acquire")
	releaseScript = load("release")
	extendScript  = load("extend")
	fenceScript   = load("fence")
	repairScript  = load("repair")
	restoreScript = load("restore")
	reserveScript = load("reserve")
	inspectScript = load("inspect")
	deafScript    = load("deaf")
	farScript     = load("far")
	forceScript   = load("force")
	forcedScript  = load("forced")
	keepScript    = load("keep")
	noteScript    = load("note")
	probeScript   = load("probe")
	readyScript   = load("ready")
	holdsScript   = load("holds")
	serverScript  = load("server")
	batchScript   = load("batch")

	fairAcquireScript = load("fair_acquire")
	fairReleaseScript = load("fair_release")
	fairYieldScript   = load("fair_yield")
	fairSettleScript  = load("fair_settle")
	fairBeatScript    = load("fair_beat")

	rwAcquireScript = load("rw_acquire")
	rwReleaseScript = load("rw_release")
	rwYieldScript   = load("rw_yield")
	rwSettleScript  = load("rw_settle")
	rwBeatScript    = load("rw_beat")
	rwExtendScript  = load("rw_extend")
	rwRestoreScript = load("rw_restore")
	rwRepairScript  = load("rw_repair")
	rwKeepScript    = load("rw_keep")
	rwLookScript    = load("rw_look")
	rwReserveScript = load("rw_reserve")

	permitAcquireScript = load("permit_acquire")
	permitReleaseScript = load("permit_release")
	permitYieldScript   = load("permit_yield")
	permitSettleScript  = load("permit_settle")
	permitBeatScript    = load("permit_beat")
	permitExtendScript  = load("permit_extend")
	permitRestoreScript = load("permit_restore")
	permitRepairScript  = load("permit_repair")
	permitKeepScript    = load("permit_keep")
	permitFenceScript   = load("permit_fence")
	permitReserveScript = load("permit_reserve")
	permitNoteScript    = load("permit_note")
	permitInspectScript = load("permit_inspect")
)

func load(name string) *Script {
	source := expand(name)
	// Redis names scripts by their SHA-1; nothing here depends on its strength.
	sum := sha1.Sum([]byte(source))
	sha := hex.EncodeToString(sum[:])
	return &Script{Name: name, Source: source, SHA: sha, sha: sha, batch: byte(slices.Index(batched, name) + 1)}
}

// expand reads a .lua file, with libraries where it names them, and leaves out what is for people only.
// A library is functions, and a script makes its functions anew with each run: what is seldom needed is
// named where it is needed.
func expand(name string) string {
	if text, ok := expanded[name]; ok {
		return text
	}
	var text strings.Builder
	for line := range lines(name) {
		if libraries := librariesOf(line); libraries != nil {
			for _, library := range libraries {
				text.WriteString(expand(library))
			}
		} else if line != "" && !strings.HasPrefix(line, "--") {
			text.WriteString(line)
			text.WriteByte('\n')
		}
	}
	expanded[name] = strings.Clone(text.String()) // as long as it is; a builder has room to grow
	return expanded[name]
}

// expanded are the files that were read so far: every program that imports this package starts with them.
var expanded = make(map[string]string)

// lines yields the lines of a .lua file without the space around them. No string of a script is longer
// than a line.
func lines(name string) iter.Seq[string] {
	source, err := fs.ReadFile(sources, name+".lua")
	if err != nil {
		panic(err) // the file is embedded, or a script names a library that is not there: no test passes then
	}
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(source)) {
			if !yield(strings.TrimSpace(line)) {
				return
			}
		}
	}
}

// librariesOf returns the libraries in whose place a line of a script, or of a library, stands.
func librariesOf(line string) []string {
	libraries, found := strings.CutPrefix(line, "-- uses ")
	if !found {
		return nil
	}
	return strings.Split(libraries, ", ")
}
