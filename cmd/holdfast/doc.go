// Command holdfast brings the toolkit's locks to the shell: it runs a command under a lock, ends
// that command before anybody else can have the lock, and shows operators who has which lock.
//
//	holdfast run nightly-export -- ./export --all
//	holdfast status nightly-export
//
// # Promises of run and elect
//
//   - The command runs only while the lock is held. If the lock cannot be renewed, the whole
//     process group of the command is gone before the keys can expire: SIGTERM comes early enough
//     to leave the full grace period, then SIGKILL (supervisor.go, grace.go).
//   - If the lock was deleted or ended by force, there is no such time: SIGTERM follows the loss at
//     once, and SIGKILL after the grace period.
//   - The lock is released when the last process of the group is gone, and not before (group.go).
//   - A signal that ends the wait leaves nothing locked (signals.go).
//
// A process that leaves the process group, such as a daemon, does not keep the lock. When the lock is
// lost, it is ended with the group on Linux; on other systems it continues. If holdfast is killed with
// SIGKILL, Linux kills the command, but not the command's own children.
package main
