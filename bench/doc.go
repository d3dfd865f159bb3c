// Command bench measures Holdfast beside its peers, in one run on the same real Redis
// servers, which it starts itself and which keep nothing on disk.
//
//	go run . -workload many -n 5 -repeat 5 -duration 1s
//
// Contenders take turns within each repetition, and a table shows the median of the
// repetitions. A ratio is taken within a repetition, and its median is shown: the
// machine may be busy with other things, but it is so for all contenders. Absolute
// figures say as much about the machine as about the code.
//
// Each contender is watched by a count of holders for each name, which lives outside of
// Redis and is shared by all processes. Where two hold one name at once, that is an
// overlap; one of them is enough for the run to fail.
//
// Contenders:
//
//	holdfast     reentrant.Mutex, with its watchdog
//	fair         fair.Mutex, the same
//	redsync      go-redsync/redsync v4 over go-redis, with its default of 50 to 250 ms between tries
//	redislock    bsm/redislock, trying again after 100 ms as in its documentation
//	rueidislock  redis/rueidis, one key for a lock, NOLOOP tracking
//	redsync-local, redislock-local
//	             the same behind a sync.Mutex for each name, as careful users build it
//	raw          no lock at all: a bare acquire script and a bare release script to every
//	             node, through go-redis' deferred automatic pipelines; the floor
//	scripts      raw with Holdfast's own scripts
//	wire         raw without a client library: the least that Go can do
//	baton        wire, with a quorum of replies to wait for, for goroutines of one process
//	             that stand in line for a name: the least that a hand-over can cost
//	relay        baton with Holdfast's scripts, sent by go-redis
//	inside       a first-come mutex of the process inside one lock that is held all the time,
//	             without tokens or a chance for others: the least that passing on can cost
//
// A target stands beside what the floors of its workload reach in the same run: inside, baton and
// relay, or scripts where there are many callers. Where baton does not reach it either, the
// machine is in the way; where relay or scripts do not, the scripts and go-redis are.
//
// redsync and redislock that try again after a millisecond are redsync-1ms and
// redislock-1ms. All run with the same client options, go-redis' defaults. It needs a
// Unix with redis-server on its PATH, and Linux for the servers to end with it in any
// case.
package main
