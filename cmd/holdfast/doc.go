// Command holdfast takes the toolkit's locks from a shell: it runs a command under a lock and ends it
// before anybody else can have that lock, and it shows operators who has which lock.
//
//	holdfast run nightly-export -- ./export --all
//	holdfast status nightly-export
//
// # Promises of run and elect
//
//   - The command runs only while the lock is held. Where the lock cannot be renewed, the whole
//     process group of the command is gone before the keys can expire: SIGTERM comes early enough for
//     the grace to fit, then SIGKILL (supervisor.go, grace.go).
//   - A lock that was deleted or ended by force leaves no such time. SIGTERM follows the loss at once,
//     and SIGKILL after the grace.
//   - The lock is released when the last process of the group is gone, and not before (group.go).
//   - A signal that ends the wait leaves nothing locked (signals.go).
//
// What leaves the process group, such as a daemon, is on its own. If holdfast is killed with SIGKILL, Linux
// kills the command, but not the command's own children.
package main
