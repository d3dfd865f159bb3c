// Package waiter wakes callers that wait for a message from the nodes. It owns the subscriptions:
// one Pub/Sub connection per node, or per master of a Cluster, however many channels and waiters
// there are.
//
// A [Subscription] is woken when a quorum of nodes has published the same message, or shortly after
// the first of them did, so that one event wakes it once and not once per node. It is also woken
// when a node's subscription is restored after a broken connection, because messages may have been
// missed meanwhile (I6).
//
// What it does not promise: Pub/Sub is at most once, so a wake-up may be lost, and a wake-up only
// says that it is worth looking. A waiter looks again after [Subscription.Ready], and from time to
// time without any wake-up.
//
// A connection may die silently. A ping that gets no pong reveals it; the health check of go-redis
// writes pings but does not notice that the pong is missing. Nor does a pong say much: a master that
// has left its Cluster, or was replaced while only its Sentinels could not reach it, lives on where
// nobody publishes. So a connection that has been quiet for three seconds follows the client's
// commands if they go elsewhere.
package waiter
