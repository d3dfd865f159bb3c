package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tree with one file, and two tests that notice less than they should.
var sample = map[string]string{
	"go.mod":         "module sample\n\ngo 1.26\n",
	"half/half.go":   "package half\n\nfunc Half(n int) int { return n / 2 }\n\nfunc Odd(n int) bool { return n%2 == 1 }\n",
	"half/a_test.go": "package half\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fatal()\n\t}\n\tOdd(3)\n}\n",
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func mutant(name, old, with string) Mutant {
	return Mutant{Name: name, File: "half/half.go", Old: old, New: with, Package: "half", Tests: "^TestHalf$"}
}

func TestMutantsMeetTheFateTheyDeserve(t *testing.T) {
	c := &court{root: tree(t, sample), limit: time.Second}
	equivalent := mutant("equivalent", "n / 2", "n - n/2 - n%2")
	equivalent.Equivalent = "it is the same number"
	elsewhere := mutant("no such test", "n / 2", "n")
	elsewhere.Tests = "^TestThird$"
	for _, one := range []struct {
		mutant Mutant
		fate   Fate
	}{
		{mutant("wrong", "n / 2", "n / 3"), Killed},
		{mutant("crashes", "n / 2", "n / (n - 4)"), Killed},
		{mutant("nobody looks", "n%2 == 1", "n%2 == 0"), Survived},
		{mutant("never ends", "return n / 2", "for { }"), Late},
		{mutant("does not compile", "n / 2", "n /"), Failed},
		{equivalent, Equivalent},
		{elsewhere, Failed},
	} {
		t.Run(one.mutant.Name, func(t *testing.T) {
			t.Parallel()
			v := c.try(one.mutant)
			assert.Equal(t, one.fate, v.Fate, v.Err)
			assert.Equal(t, one.fate == Failed, v.Err != nil)
		})
	}
}

func TestASurvivorFailsTheRun(t *testing.T) {
	c := &court{root: tree(t, sample), limit: time.Second}
	r, err := c.session([]Mutant{mutant("wrong", "n / 2", "n / 3")}, 1, io.Discard)
	require.NoError(t, err)
	require.True(t, r.ok())

	r, err = c.session([]Mutant{mutant("wrong", "n / 2", "n / 3"), mutant("nobody looks", "n%2 == 1", "n%2 == 0")}, 2, io.Discard)
	require.NoError(t, err)
	require.False(t, r.ok())
	require.Equal(t, 0.5, r.share())
}

func TestATextThatIsNotThereOnceIsAnError(t *testing.T) {
	c := &court{root: tree(t, sample), limit: time.Second}
	for _, old := range []string{"n / 4", "return n"} {
		_, err := c.session([]Mutant{mutant("gone", old, "n")}, 1, io.Discard)
		require.ErrorContains(t, err, "not once")
	}
}

func TestTestsThatFailWithoutAMutantAreAnError(t *testing.T) {
	broken := map[string]string{"go.mod": sample["go.mod"], "half/a_test.go": sample["half/a_test.go"],
		"half/half.go": strings.ReplaceAll(sample["half/half.go"], "n / 2", "n / 1")}
	c := &court{root: tree(t, broken), limit: time.Second}
	_, err := c.session([]Mutant{mutant("wrong", "n / 1", "n / 3")}, 1, io.Discard)
	require.ErrorContains(t, err, "fail without any mutant")
}

func TestNineteenOfTwentyAreEnough(t *testing.T) {
	r := &Report{Verdicts: make([]Verdict, 20)}
	for i := range r.Verdicts {
		r.Verdicts[i].Fate = Killed
	}
	r.Verdicts[0].Fate = Survived
	assert.True(t, r.ok())
	r.Verdicts[1].Fate = Equivalent
	assert.False(t, r.ok(), "18 of 19 are not")
	r.Verdicts[0].Fate, r.Verdicts[1].Fate = Late, Killed
	assert.False(t, r.ok(), "one that is late")
}
