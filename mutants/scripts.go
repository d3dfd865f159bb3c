package main

import (
	"os"
	"path/filepath"
	"sync"
)

// Mutants of scripts share a test binary, which reads the scripts when it starts, from a
// directory of the mutant's. To build one for each would take most of the time, as every
// package but two stands on lua.

// scriptsEnv tells such a binary where its scripts are.
const scriptsEnv = "HOLDFAST_MUTANT_SCRIPTS"

// unscripted are the edits that make one.
var unscripted = Mutant{
	Name: "scripts are read at the start",
	File: "lua/script.go",
	Old:  "var sources embed.FS",
	New:  "var embedded embed.FS",
}

const scriptsFile, scriptsSource = "lua/scripts_of_a_mutant.go", `package lua

import (
	"io/fs"
	"os"
)

var sources fs.FS = os.DirFS(os.Getenv("` + scriptsEnv + `"))
`

// ofScripts tells whether m edits scripts only.
func (m Mutant) ofScripts() bool {
	for _, e := range m.edits() {
		if filepath.Dir(e.File) != "lua" || filepath.Ext(e.File) != ".lua" {
			return false
		}
	}
	return true
}

// A binary is built once, by whoever needs it first.
type binary struct {
	once sync.Once
	dir  string
	err  error
}

// scripted returns the directory with the binary of a package that reads its scripts.
func (c *court) scripted(pkg string) (dir string, err error) {
	c.mu.Lock()
	if c.binaries == nil {
		c.binaries = make(map[string]*binary)
	}
	b := c.binaries[pkg]
	if b == nil {
		b = new(binary)
		c.binaries[pkg] = b
	}
	c.mu.Unlock()
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "holdfast-mutant-"); b.err != nil {
			return
		}
		texts, err := unscripted.texts(c.root)
		if err != nil {
			b.err = err
			return
		}
		texts[scriptsFile] = scriptsSource
		list, err := texts.Write(c.root, b.dir)
		if err == nil {
			err = c.build(pkg, b.dir, "-overlay", list)
		}
		b.err = err
	})
	return b.dir, b.err
}

// close removes what was built.
func (c *court) close() {
	for _, b := range c.binaries {
		_ = os.RemoveAll(b.dir)
	}
}

// copyScripts writes all scripts into dir, those in texts as they are there.
func copyScripts(root string, texts map[string]string, dir string) error {
	files, err := filepath.Glob(filepath.Join(root, "lua", "*.lua"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(file)
		text, edited := texts["lua/"+name]
		if !edited {
			original, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text = string(original)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
