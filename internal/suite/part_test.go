package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLongestPackagesGoFirst(t *testing.T) {
	p, err := list(t.Context(), "../..:./election ./fair ./lock ./watchdog")
	require.NoError(t, err)
	require.Equal(t, []string{module + "lock", module + "fair", module + "election", module + "watchdog"}, p.packages)
	for _, name := range long {
		require.DirExists(t, "../../"+name)
	}
}

func TestExamplesWorldsAndSomeRulesGoWithoutTheRaceDetector(t *testing.T) {
	p, err := list(t.Context(), "../..:./examples/cron ./fair ./internal/simulation ./watchdog")
	require.NoError(t, err)
	rest := p.spared()
	require.Equal(t, []string{module + "fair", module + "watchdog"}, p.packages)
	require.Len(t, rest, 3)
	worlds, ruled, examples := rest[0], rest[1], rest[2]
	require.Equal(t, []string{module + "internal/simulation"}, worlds.packages)
	require.Equal(t, []string{module + "fair"}, ruled.packages)
	require.Equal(t, []string{module + "examples/cron"}, examples.packages)
	require.False(t, worlds.last)
	require.False(t, ruled.last)
	require.True(t, examples.last)
	s := suite{race: true}
	for _, p := range rest {
		require.NotContains(t, s.command(t.Context(), p, 1, nil).Args, "-race")
		require.Subset(t, s.command(t.Context(), p, 1, nil).Args, flagsPlain)
	}
	rules := s.command(t.Context(), ruled, 1, []string{"X=1"})
	require.Contains(t, rules.Args, "^TestConformance")
	require.Subset(t, rules.Env, []string{"HOLDFAST_RULES=rest", "X=1"})
	require.NotContains(t, s.command(t.Context(), p, 1, nil).Env, "HOLDFAST_RULES=rest")
	require.Contains(t, s.command(t.Context(), p, 1, nil).Args, "-race")
}

func TestWhatComputesDoesNotWaitForWhatWaits(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lock"), 0o700))
	for name, source := range map[string]string{
		"a_test.go": "func TestA(t *testing.T) {\n\tt.Parallel()\n}\n\nfunc TestB(t *testing.T) {\n\tt.Run(``, func(t *testing.T) { t.Parallel() })\n}\n",
		"c_test.go": "func TestC(t *testing.T) {\n\tt.Parallel()\n}\n",
		"d.go":      "func TestD(t *testing.T) {\n\tt.Parallel()\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "lock", name), []byte("package lock\n\n"+source), 0o600))
	}
	s := suite{race: true}
	first := &part{dir: dir, packages: []string{module + "fair", mixed}}
	parts, err := s.plan([]*part{first, {dir: "bench"}})
	require.NoError(t, err)
	require.Len(t, parts, 5)
	require.Equal(t, []string{module + "fair"}, first.packages)
	for name, runs := range map[string][3]bool{
		"TestA": {false, false, true}, "TestB": {true, false, false}, "TestC": {false, false, true},
		"TestMore": {false, true, false}, "TestBMore": {false, true, false}, "ExampleA": {false, true, false}, "Test_a": {false, true, false},
	} {
		for i, p := range parts[1:4] {
			require.Equal(t, i < 2, p.apart)
			require.True(t, p.run == "" || p.skip == "")
			skipped := p.skip != "" && regexp.MustCompile(p.skip).MatchString(name)
			require.Equal(t, runs[i], regexp.MustCompile(p.run).MatchString(name) && !skipped, "%s in %d", name, i)
			args := s.command(t.Context(), p, 1, nil).Args
			require.Contains(t, args, p.run)
			require.Contains(t, args, p.skip)
		}
	}
}

// What is not found would be run at the end of those that compute.
func TestEveryTestThatRunsAsideIsFound(t *testing.T) {
	p := &part{dir: "../..", packages: []string{mixed}}
	divided, err := p.divided()
	require.NoError(t, err)
	wait := regexp.MustCompile(divided[2].run)
	files, err := filepath.Glob("../../lock/*_test.go")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || len(f.Body.List) == 0 {
				continue
			}
			aside := false
			for _, s := range f.Body.List {
				e, _ := s.(*ast.ExprStmt)
				if e == nil {
					continue
				}
				if call, ok := e.X.(*ast.CallExpr); ok {
					method, is := call.Fun.(*ast.SelectorExpr)
					aside = aside || is && method.Sel.Name == "Parallel"
				}
			}
			require.Equal(t, aside, wait.MatchString(f.Name.Name), f.Name.Name)
			if aside {
				found++
			}
		}
	}
	require.Greater(t, found, 10)
}

func TestOfWhatTheCallerHasChosenNothingIsChanged(t *testing.T) {
	for _, s := range []suite{{race: true, run: "TestX"}, {}} {
		p := &part{dir: "../..", packages: []string{mixed, module + "examples/cron"}}
		parts, err := s.plan([]*part{p})
		require.NoError(t, err)
		require.Equal(t, []*part{p}, parts)
		require.Len(t, p.packages, 2)
	}
}

func TestOnlyWhatLintVetsIsNotVetted(t *testing.T) {
	s := suite{race: true}
	require.Contains(t, s.command(t.Context(), &part{dir: "."}, 1, nil).Args, "-vet=off")
	require.NotContains(t, s.command(t.Context(), &part{dir: "./chaos"}, 1, nil).Args, "-vet=off")
}

// What tests compile has been compiled for those that run without the race detector.
func TestWhatTestsCompileIsCompiledOnce(t *testing.T) {
	s := suite{race: true, goflags: "-mod=mod"}
	require.Contains(t, s.command(t.Context(), &part{dir: "./chaos"}, 1, nil).Env, "GOFLAGS=-mod=mod "+strings.Join(flagsPlain, " "))
}

// Several go test at the same time find compiled what they share.
func TestTheFirstModuleIsCompiledBeforeItsTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n", "a/a.go": "package a\n", "a/a_test.go": "package a\n\nvar _ = %q\n",
		"b/b.go": "package b\n\nvar _ = %q\n", "b/b_test.go": "package b\n\nvar _ int = %q\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "%q", strconv.Quote(dir))), 0o600))
	}
	s := suite{}
	root := &part{dir: dir, packages: []string{"./a"}}
	has := func() bool { // whether there is something left to compile
		cmd := s.goCommand(t.Context(), root, append([]string{"list", "-n", "-e", "-test", "-export"}, append(flagsPlain, "./a")...))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.Contains(string(out), "-p example.com/m/a ")
	}
	require.True(t, has())
	require.NoError(t, s.compile(t.Context(), []*part{root, {dir: "elsewhere", packages: []string{"./c"}}, {dir: dir, packages: []string{"./b"}}}))
	require.False(t, has())
}
