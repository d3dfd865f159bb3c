// Package nodes gives an example the Redis nodes it runs on: embedded ones by default,
// or real ones named by the -redis flag. It also takes a node away while the example
// runs, so that one can watch what happens then.
//
// None of this is needed to use the locks: a program makes its Redis clients and hands
// them to lock.NewClient.
package nodes
