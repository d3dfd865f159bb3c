// Command suite runs the tests of every module and says how far it is, a line for each
// package as it ends. What a test that passed has printed is left out; of one that failed
// all is shown.
//
//	go run ./internal/suite [-p 2] [-run regexp] [-stress 10m] [module[:pattern] …]
//
// Examples are run without the race detector, and so is, on some deployments, what each kind of lock keeps: with the race
// detector, on the others, it takes several times as long. The package that takes longest, lock, is run in three parts side
// by side: what computes, in virtual time, in two halves, and what waits on servers. With -run nothing is divided.
//
// With -stress it runs them again and again until that time is over, beside processes that
// take every core in bursts, by turns with all processors and with GOMAXPROCS=1. A test
// that only fails then depends on how busy the machine is.
//
// `make test` and `make stress` are this.
package main
