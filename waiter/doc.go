// Package waiter wakes those who wait for something that nodes publish. It owns the
// subscriptions: one Pub/Sub connection per node, or per master of a Cluster, however many
// channels and waiters there are.
//
// A [Subscription] is woken when a quorum of nodes has published the same message,
// or shortly after the first of them did, so that one event wakes once and not once
// per node. It is also woken when a node's subscription has been renewed after a
// broken connection, as messages may have been missed meanwhile (I6).
//
// What it does not promise: Pub/Sub is at most once, so a wake-up may be lost, and a
// wake-up says only that it is worth looking. A waiter looks again after
// [Subscription.Ready], and from time to time without any wake-up.
//
// A connection that has died in silence is found by a ping that gets no pong; the
// health check of go-redis writes pings and never misses the pong.
package waiter
