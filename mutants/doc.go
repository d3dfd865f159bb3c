// Command mutants shows that the ordinary tests notice bugs.
//
// A [Mutant] is a bug, small and on purpose: a quorum of one less, a message that is not
// published, a key without its TTL. It is planted into the library when a test binary is
// built (go build -overlay), so the repository stays as it is. Then the tests that the
// mutant names run, which are the narrowest that must notice it: if they pass, it has
// survived, and a test is missing.
//
// First the same tests run without any mutant, and must pass. At the end the command fails
// if fewer than 95 % of the mutants were killed, those aside that are equivalent: nobody can
// tell them from the original, and each says why.
//
// What it adds to chaos, which plants bugs, too: there a bug shows that a checker works, here
// that a test does.
package main
