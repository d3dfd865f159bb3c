package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/holdfast-go/holdfast/"

// A layer is what a package of the library may import.
type layer struct {
	own    []string // packages of this module
	others []string // modules beyond the standard library
	reason string
}

const (
	goRedis   = "github.com/redis/go-redis/v9"
	backoff   = "github.com/cenkalti/backoff/v4"
	uuid      = "github.com/google/uuid"
	miniredis = "github.com/alicebob/miniredis/v2"
	gopherLua = "github.com/yuin/gopher-lua"
)

// layers has an entry for each package that users import, and for those of internal that these
// import. A package that is not in it fails the test: who adds one says here where it belongs.
var layers = map[string]layer{
	"lua": {
		others: []string{goRedis},
		reason: "lua knows Redis and nothing of locks' policy",
	},
	"watchdog": {
		reason: "watchdog knows time and callbacks; it must be testable without a Redis, in virtual time",
	},
	"internal/server": {
		others: []string{goRedis},
		reason: "which server has been reached is asked of go-redis' connections, whatever they are for",
	},
	"internal/cluster": {
		others: []string{goRedis},
		reason: "a Cluster's masters are asked for in the same way whoever needs them",
	},
	"redlock": {
		own:    []string{"internal/cluster", "internal/server", "lua"},
		others: []string{goRedis, backoff},
		reason: "redlock lets nodes vote on scripts; it stands beside watchdog and waiter, which only lock brings together",
	},
	"waiter": {
		own:    []string{"internal/server"},
		others: []string{goRedis, backoff},
		reason: "waiter owns subscriptions and no scripts; it stands beside redlock and watchdog, which only lock brings together",
	},
	"internal/kind": {
		own:    []string{"lua"},
		reason: "a kind is scripts, and what the engine must know of one does not know the engine",
	},
	"internal/hook": {
		reason: "a hook tells of calls, and knows nobody's types",
	},
	"internal/caption": {
		reason: "what people may be told of a hold is the same whoever tells it",
	},
	"internal/valueless": {
		reason: "contexts end in the same way whatever they are for",
	},
	"lock": {
		own:    []string{"internal/caption", "internal/hook", "internal/kind", "internal/valueless", "lua", "redlock", "waiter", "watchdog"},
		others: []string{goRedis, backoff, uuid},
		reason: "lock is the engine under every kind of lock and knows none of them",
	},
	"internal/engine": {
		own:    []string{"internal/kind", "lock"},
		reason: "kinds have their locks made here, by package lock, whose public API is for users",
	},
	"reentrant": {
		own:    []string{"internal/engine", "internal/kind", "lock", "lua"},
		reason: "a kind of lock is scripts for the engine; kinds stand side by side, and none goes past lock to the nodes",
	},
	"fair": {
		own:    []string{"internal/engine", "internal/kind", "lock", "lua"},
		reason: "a kind of lock is scripts for the engine; kinds stand side by side, and none goes past lock to the nodes",
	},
	"readwrite": {
		own:    []string{"internal/engine", "internal/kind", "lock", "lua"},
		reason: "a kind of lock is scripts for the engine; kinds stand side by side, and none goes past lock to the nodes",
	},
	"semaphore": {
		own:    []string{"internal/engine", "internal/kind", "lock", "lua"},
		reason: "a kind of lock is scripts for the engine; kinds stand side by side, and none goes past lock to the nodes",
	},
	"election": {
		own:    []string{"fair", "internal/caption", "internal/engine", "lock"},
		reason: "an election is made of locks, and sees what their users see; but a leadership is not passed on within a process, which is an option of kinds",
	},
	"internal/virtual": {
		others: []string{goRedis, miniredis, gopherLua},
		reason: "nodes in memory are Redis, and know nothing of locks",
	},
	"locktest": {
		own:    []string{"fair", "internal/hook", "internal/virtual", "lock", "lua"},
		others: []string{goRedis},
		reason: "a fake is the real locks on nodes in memory; the locks that tests need they make themselves",
	},
	"multi": {
		own:    []string{"internal/engine", "internal/valueless", "lock", "lua"},
		reason: "multi takes locks of every kind, and knows no more of them than any program does, but that others wait in line; lua says which names are one lock",
	},
}

// testers are packages for users' tests, and what of internal these import. No program carries them.
var testers = []string{"internal/virtual", "locktest"}

type listed struct {
	ImportPath string
	Imports    []string
}

// list returns the packages of the module, named without it, with the imports of their
// non-test files. Tests may look up: a test of the engine needs a kind of lock.
func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"...").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		packages = append(packages, p)
	}
	require.NotEmpty(t, packages)
	return packages
}

func TestImportsPointDownOnly(t *testing.T) {
	for _, p := range list(t) {
		l, known := layers[p.ImportPath]
		if top, _, _ := strings.Cut(p.ImportPath, "/"); !known && (top == "examples" || top == "internal") {
			continue
		}
		if !known {
			t.Errorf("package %s is in no layer: add it to this test, with the reason", p.ImportPath)
			continue
		}
		for _, path := range p.Imports {
			if own, ok := strings.CutPrefix(path, module); ok {
				if !slices.Contains(l.own, own) {
					t.Errorf("%s imports %s: %s", p.ImportPath, own, l.reason)
				}
			} else if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !slices.ContainsFunc(l.others, func(o string) bool {
				return path == o || strings.HasPrefix(path, o+"/")
			}) {
				t.Errorf("%s imports %s: %s", p.ImportPath, path, l.reason)
			}
		}
	}
}

func TestTestHelpersStayOutOfWhatUsersImport(t *testing.T) {
	for _, p := range list(t) {
		if top, _, _ := strings.Cut(p.ImportPath, "/"); top == "examples" || top == "internal" || slices.Contains(testers, p.ImportPath) {
			continue
		}
		for _, path := range p.Imports {
			own, internal := strings.CutPrefix(path, module)
			if _, known := layers[own]; path == "testing" || slices.Contains(testers, own) || internal && strings.HasPrefix(own, "internal/") && !known {
				t.Errorf("%s imports %s: that is for tests, and users would carry it", p.ImportPath, path)
			}
		}
	}
}

func TestExamplesAreWhatAUserCouldWrite(t *testing.T) {
	for _, p := range list(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "examples/")
		if !ok || strings.HasPrefix(name, "internal/") {
			continue
		}
		for _, path := range p.Imports {
			switch {
			case strings.HasPrefix(path, module+"examples/internal/"):
			case strings.HasPrefix(path, module+"examples/"):
				t.Errorf("%s imports %s: each example is read, and runs, alone", p.ImportPath, path)
			case strings.HasPrefix(path, module+"internal/"):
				t.Errorf("%s imports %s, which a user's program cannot", p.ImportPath, path)
			}
		}
	}
}
