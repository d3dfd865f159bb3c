package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A shown is a command of the documentation, with what is printed below it.
type shown struct{ command, output string }

// session is the block of commands in a file that begins behind this text.
func session(t *testing.T, file, behind string) (all []shown) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), behind)
	require.True(t, found, behind)
	_, rest, found = strings.Cut(rest, "```console\n")
	require.True(t, found)
	block, _, _ := strings.Cut(rest, "```")
	for line := range strings.Lines(block) {
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case is && strings.TrimSpace(command) == "echo $?":
			all[len(all)-1].command += "; echo $?"
		case is:
			command, _, _ = strings.Cut(command, " # ")
			all = append(all, shown{command: strings.TrimSpace(command)})
		default:
			all[len(all)-1].output += line
		}
	}
	return all
}

// What differs from run to run.
var differs = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+`), "ID"},
	{regexp.MustCompile(`\b\d{16}\b`), "TOKEN"},
	{regexp.MustCompile(`\b[\w.]+:\d{4,5}\b`), "NODE"},
	{regexp.MustCompile(`[\w.-]+/\d+ (call|export|ship)\b`), "HOST/PID $1"},
	{regexp.MustCompile(`(Redis|Valkey) [\d.]+`), "VERSION"},
	{regexp.MustCompile(`[+-]?(\d+[hm])*(\d[\d.]*/)*[\d.]*\d(ms|s|m)\b`), "TIME"},
	{regexp.MustCompile(` +`), " "},
}

func regular(text string) string {
	for _, d := range differs {
		text = d.what.ReplaceAllString(text, d.with)
	}
	return text
}

// What the README and docs/cli.md show is what is printed.
func TestSessionsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"call", "ship", "export"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexec sleep 600\n"), 0o700))
	}
	servers := redistest.StartN(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, redisURL(s.Addr()))
	}
	list := strings.Join(urls, ",")
	shell := func(command string) *process {
		script := "exec 2>&1\n" + command
		cmd := commandOf(t, list, "/bin/sh", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		return begin(t, cmd)
	}
	background := 0
	// told waits until all that runs in the background stands in the list, with what is told of it.
	told := func() {
		redistest.Eventually(t, longest, func() bool {
			code, out, _ := run(t, list, "list", "--json")
			n := 0
			for _, line := range lines(out) {
				var v lockView
				decode(t, line, &v)
				if !labelled(v) {
					return false
				}
				n += len(v.Holders) + len(v.Waiters)
			}
			return code == 0 && n == background
		}, "not all of the %d that were begun are there", background)
	}
	play := func(all []shown) {
		require.NotEmpty(t, all)
		for _, s := range all {
			if strings.HasPrefix(s.command, "export ") {
				continue // the servers are this test's
			}
			if command, is := strings.CutSuffix(s.command, " &"); is {
				shell("exec " + command)
				background++
				told()
				continue
			}
			var got string
			same := func() bool {
				p := shell(s.command)
				p.wait()
				got = p.out.String()
				return regular(got) == regular(s.output)
			}
			// A server that is slow for a moment is called silent. What has an effect is done once.
			once := strings.Contains(s.command, "unlock")
			for until := time.Now().Add(longest); !same() && !once && time.Now().Before(until); {
			}
			require.Equal(t, regular(s.output), regular(got), s.command)
		}
	}
	play(session(t, "../../README.md", "### From the shell"))
	play(session(t, "../../docs/cli.md", "## Inspecting locks, and ending them"))
	servers[2].Kill()
	play(session(t, "../../docs/cli.md", "With one of three servers down"))

	text, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	documents := regexp.MustCompile(`(?m)^\{.*\}$`).FindAllString(string(text), -1)
	require.NotEmpty(t, documents)
	for _, d := range documents {
		var v lockView
		decode(t, d, &v)
		again, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, d, string(again), "in the order of its fields, and with those that are always there")
	}
}
