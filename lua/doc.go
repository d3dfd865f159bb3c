// Package lua holds the scripts that locks run on a Redis server, the names of
// the keys they touch, and one typed caller for each.
//
// A script is the unit of atomicity: everything that must happen together on one node is in one
// script. The package knows Redis and nothing of the locks' policy: packages redlock and lock
// decide when to run a script, on which nodes, and what to make of the answers.
//
// Each .lua file opens with a header: one sentence of purpose, every key with its pattern and type,
// every argument with its unit, every reply with its meaning, and why the script may run twice or
// late (promise I4). A test compares the headers with the code. Functions that scripts share are in
// libraries, which are .lua files, too: the line "-- uses clock, guard" in a script inserts them
// there.
//
// Calls that are sent together can be one command, a [Batch]: a script whose functions are the
// other scripts.
//
// Times inside scripts are the server's own; no script uses a client's clock.
package lua
