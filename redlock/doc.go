// Package redlock lets N independent Redis nodes vote, as the distributed-locks
// document of Redis (the Redlock algorithm) describes it: one script is sent to
// every node at once, and a quorum of N/2+1 yeses decides.
//
// What it promises:
//
//   - A [Ballot] is decided as soon as a quorum says yes or no quorum is possible any more. A node
//     that is silent for the node timeout counts as a no, so a stuck node causes no visible delay.
//   - Every command is sent once, whatever retries, timeouts and contexts the user's clients are
//     configured with. Hooks of these clients do not see it, except for a command that a ClusterClient
//     has to route because its server is not known yet: such a hook must not send it twice.
//   - A [Footprint] knows which nodes have, or may have, the key of a hold. When the hold ends, the
//     key is removed from each of them. For nodes that do not confirm, removal continues in the
//     background until the key's TTL has passed (I5). If a command that creates the key may still
//     be in flight, the removal leaves a mark that voids the command (I4).
//
// What it does not do: it knows nothing of locks, tokens, owners or waiters, and it never retries
// on its own to win a ballot. That is the job of package lock. [Group.Validity] says for how long a
// win may be relied on.
//
// Each node has a lane: a queue that is drained into one pipeline at a time, or into more if the
// node is far away or has many callers. So concurrent callers share round trips, and a caller may
// leave without waiting. Commands that follow one another closely, each alone, go over a connection
// that the lane keeps. If a node has been identified as a single server, the calls of a pipeline also
// share a command: see [lua.Batch].
//
// A Cluster is one node, with a lane for each of its masters. Each name lives on one master, and a
// master that is stuck or gone does not hold up the names of the others.
package redlock
