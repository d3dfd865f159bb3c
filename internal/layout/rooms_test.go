package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room is some files of package lock that answer one question together.
type room struct {
	question string
	files    []string
}

// rooms are those of package lock, in their order: the code of a room refers to its own, and to the rooms
// below it. docs/architecture.md has the same table.
var rooms = []room{
	{"What do operators see, and tests of programs?", []string{"inspect.go", "survey.go", "list.go", "force.go", "hook.go"}},
	{"What does a user see?", []string{"client.go", "connect.go", "shutdown.go", "option.go", "locker.go", "together.go", "health.go", "context.go", "holds.go"}},
	{"How does a call get its lock?", []string{"acquire.go", "acquisition.go", "reenter.go", "trial.go", "fail.go"}},
	{"How does a waiting call get its turn?", []string{"contender.go", "sleep.go", "queuer.go", "queue.go", "ask.go", "missed.go", "successor.go", "heartbeats.go"}},
	{"How is a lock taken at the nodes, and why is it refused?", []string{"attempt.go", "deny.go"}},
	{"How does a lease end?", []string{"unlock.go", "release.go", "parting.go", "downgrade.go", "close.go"}},
	{"Who is next in this process, and where does a token come from?", []string{"handover.go", "join.go", "hear.go", "carry.go", "pass.go", "run.go", "serve.go", "relay.go", "service.go", "reserve.go", "elsewhere.go"}},
	{"How is a tenure kept, and where is a loss decided?", []string{"loss.go", "verdict.go", "restore.go", "renew.go", "extend.go", "mode.go", "recovery.go", "probe.go"}},
	{"Who waits in this process?", []string{"line.go", "advance.go", "lead.go", "wake.go", "over.go", "tidy.go"}},
	{"What are the nodes told about a tenure?", []string{"vacate.go", "linger.go", "repair.go", "note.go", "slots.go", "gone.go"}},
	{"Who is told about events?", []string{"audience.go", "profile.go", "about.go"}},
	{"What data is there, and who has what?", []string{"core.go", "engine.go", "setting.go", "call.go", "owner.go", "lease.go", "work.go", "failure.go", "hold.go", "tenure.go", "tokens.go", "sharing.go", "numbering.go", "contest.go", "place.go", "observer.go"}},
	{"What stands by itself?", []string{"errors.go", "reason.go", "state.go", "denial.go", "description.go", "journal.go", "tally.go", "glob.go", "reign.go", "rivals.go", "far.go", "blocker.go", "ending.go"}},
}

// TestReferencesPointDownOnly holds that no code of package lock refers to a room above its own. What has to call back
// does so by a function that the room above hands down, with a comment that says why.
func TestReferencesPointDownOnly(t *testing.T) {
	at := make(map[string]int)
	for i, r := range rooms {
		for _, file := range r.files {
			require.NotContains(t, at, file, "a file is in one room")
			at[file] = i
		}
	}
	e := read(t)
	for file := range e.files {
		if _, ok := at[file]; !ok {
			t.Errorf("lock/%s is in no room: add it to this test, and to docs/architecture.md", file)
		}
	}
	for file := range at {
		require.Contains(t, e.files, file, "a room has a file that does not exist")
	}
	for r := range e.references {
		if at[r.to] < at[r.from] {
			t.Errorf("lock/%s (%q) refers to %s of lock/%s (%q), which is above it",
				r.from, rooms[at[r.from]].question, r.name, r.to, rooms[at[r.to]].question)
		}
	}
}

// TestArchitectureShowsTheRooms holds the table of docs/architecture.md against the rooms: the same questions in the
// same order, and the same files.
func TestArchitectureShowsTheRooms(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| question | files of `lock` |\n|---|---|\n")
	require.True(t, found, "no table of rooms")
	var shown []room
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			break
		}
		r := room{question: strings.TrimSpace(cells[1])}
		for _, m := range regexp.MustCompile("`([a-z_]+\\.go)`").FindAllStringSubmatch(cells[2], -1) {
			r.files = append(r.files, m[1])
		}
		slices.Sort(r.files)
		r.files = slices.Compact(r.files)
		shown = append(shown, r)
	}
	var want []room
	for _, r := range rooms {
		want = append(want, room{r.question, slices.Sorted(slices.Values(r.files))})
	}
	require.Equal(t, want, shown)
}

// A reference is from one file of the engine to what another one declares.
type reference struct{ from, name, to string }

// engine is the code of package lock, as far as its files refer to each other.
type engine struct {
	files      map[string]bool
	references map[reference]bool
}

// read type-checks package lock, without its tests.
func read(t *testing.T) engine {
	t.Helper()
	fset, e := token.NewFileSet(), engine{make(map[string]bool), make(map[reference]bool)}
	paths, err := fs.Glob(os.DirFS(root), "lock/*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || path == "lock/doc.go" {
			continue // which declares nothing
		}
		f, err := parser.ParseFile(fset, filepath.Join(root, path), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
		e.files[filepath.Base(path)] = true
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", exports(t, imported(files)))}
	pkg, err := conf.Check(module+"lock", fset, files, info)
	require.NoError(t, err)
	names := qualified(files, info)
	for id, o := range info.Uses {
		name, declared := names[origin(o)]
		if o.Pkg() != pkg || !declared {
			continue // of another package, or local
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(o.Pos()).Filename)
		if from != to {
			e.references[reference{from, name, to}] = true
		}
	}
	require.NotEmpty(t, e.references)
	return e
}

// origin is o without the type arguments that it is used with.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// qualified names what the files declare: functions, types, variables and constants; methods and fields by their type.
func qualified(files []*ast.File, info *types.Info) map[types.Object]string {
	names := make(map[types.Object]string)
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[info.Defs[d.Name]] = receiver(d) + d.Name.Name
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, id := range s.Names {
							names[info.Defs[id]] = id.Name
						}
					case *ast.TypeSpec:
						names[info.Defs[s.Name]] = s.Name.Name
						ast.Inspect(s.Type, func(n ast.Node) bool {
							id, ok := n.(*ast.Ident)
							if o := info.Defs[id]; ok && o != nil {
								names[o] = s.Name.Name + "." + id.Name
							}
							return true
						})
						embedded(s, info, names)
					}
				}
			}
		}
	}
	return names
}

// embedded names the fields of a struct that have no name of their own.
func embedded(s *ast.TypeSpec, info *types.Info, names map[types.Object]string) {
	st, ok := info.Defs[s.Name].Type().Underlying().(*types.Struct)
	for i := 0; ok && i < st.NumFields(); i++ {
		if f := st.Field(i); f.Embedded() {
			names[f] = s.Name.Name + "." + f.Name()
		}
	}
}

// receiver is the type of a method and a dot; "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name + "."
		}
		return true
	})
	return name
}

// imported are the paths of what the files import.
func imported(files []*ast.File) (paths []string) {
	for _, f := range files {
		for _, i := range f.Imports {
			paths = append(paths, strings.Trim(i.Path.Value, `"`))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// exports finds what the compiler has written about these packages, and those that they import.
func exports(t *testing.T, packages []string) importer.Lookup {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, packages...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	require.NoError(t, err)
	paths := make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		paths[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) {
		if paths[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(paths[path])
	}
}
