package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// A process is one as /proc has it.
type proc struct {
	pid, parent, group int
	start              string // when it began: with the pid, it names one process
	dead               bool   // it waits for its parent to notice
}

// processes are all that can be seen. Those that end meanwhile may be missing.
func processes() ([]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if stat, err := os.ReadFile("/proc/" + name + "/stat"); err == nil {
			if p, ok := parseStat(pid, stat); ok {
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// parseStat reads /proc/PID/stat. The command's name, in parentheses, may have anything in it.
func parseStat(pid int, stat []byte) (p proc, ok bool) {
	at := bytes.LastIndexByte(stat, ')')
	if at < 0 {
		return proc{}, false
	}
	f := strings.Fields(string(stat[at+1:])) // from field 3, the state
	if len(f) < 20 {
		return proc{}, false
	}
	p = proc{pid: pid, start: f[19]}
	parent, err1 := strconv.Atoi(f[1])
	group, err2 := strconv.Atoi(f[2])
	p.parent, p.group = parent, group
	// A process whose first thread has ended is shown as a zombie while others run.
	p.dead = f[0] == "X" || f[0] == "Z" && f[17] == "1"
	return p, err1 == nil && err2 == nil
}

// below are the living descendants of a process, without those that were its descendants before.
func below(list []proc, root int, before map[int]string) (found []proc) {
	children := make(map[int][]proc)
	for _, p := range list {
		children[p.parent] = append(children[p.parent], p)
	}
	for next := []int{root}; len(next) > 0; {
		parent := next[0]
		next = next[1:]
		for _, p := range children[parent] {
			if start, is := before[p.pid]; is && start == p.start {
				continue
			}
			next = append(next, p.pid)
			if !p.dead {
				found = append(found, p)
			}
		}
	}
	return found
}
