// Package watchdog keeps a schedule: what must be renewed when, and what ends if it is not. It
// knows time and callbacks, and nothing of Redis or locks.
//
// One goroutine serves any number of wards. A [Ward] has up to two dates: when to renew it, and
// when it ends. Wards that are due at about the same time are handed to the renew callback
// together, so that their renewals can share round trips. An end is reported on time even while
// renewals fail, because no callback may block (I2).
//
// What it does not do: it does not renew anything itself, does not know whether a renewal
// succeeded, and sets no date on its own. The code that renews sets the next dates.
package watchdog
