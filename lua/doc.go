// Package lua holds the scripts that locks run on a Redis server, the names of
// the keys they touch, and one typed caller for each.
//
// A script is the unit of atomicity: what must happen together on one node is in
// one script. The package knows Redis and nothing of locks' policy: when to run
// a script, on which nodes, and what to make of the answers is for packages
// redlock and lock.
//
// Each .lua file opens with a header: one sentence of purpose, every key with its
// pattern and type, every argument with its unit, every reply with its meaning,
// and why it may run twice or late (promise I4). A test holds the headers against
// the code. Functions that scripts share are in libraries, .lua files too: a line
// "-- uses clock, guard" in a script has them stand there.
//
// Calls that leave together can be one command, a [Batch]: a script whose functions are
// the other scripts.
//
// Times inside scripts are the server's own; no script is fed with a client's
// clock.
package lua
