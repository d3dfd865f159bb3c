// Package redlock lets N independent Redis nodes vote, as the distributed-locks
// document of Redis (the Redlock algorithm) describes it: one script is sent to
// every node at once, and a quorum of N/2+1 yeses decides.
//
// What it promises:
//
//   - A [Ballot] is decided as soon as a quorum says yes or no longer can. A node
//     that is silent for the node timeout counts as a no, so a stuck node costs
//     nothing visible.
//   - Every command is sent once. Whatever the user's clients are set to do about
//     retries, timeouts and contexts changes none of this.
//   - A [Footprint] knows which nodes have, or may have, the key of a hold. Ending
//     the hold removes it from each of them, in the background until the key's TTL
//     has passed for nodes that do not confirm (I5). Where a command that creates
//     the key may still be on its way, the removal leaves a mark that voids it (I4).
//
// What it does not do: it knows no locks, tokens, owners or waiters, and it never
// tries again on its own to win a ballot. That is package lock's part. How long a
// win may be relied on is [Group.Validity].
//
// Each node has a lane: a queue that is drained into one pipeline at a time, or into
// more where the node is far or the callers many, so that concurrent callers share round
// trips and a caller may leave without waiting. To a node that was seen to be one server,
// calls of a pipeline share a command, too: see [lua.Batch].
//
// A Cluster is one node, with a lane for each of its masters: each name lives on one of
// them, and one that is stuck or gone holds up no name of another.
package redlock
