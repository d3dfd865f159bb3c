package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/loopback"
)

const (
	clusterSlots = 16384
	// busOffset is how far a server's port for the others of its Cluster is from the clients'.
	busOffset = 10000
	// clusterReady bounds how long servers take to become a Cluster: a master declines to serve
	// for the first two seconds.
	clusterReady = 30 * time.Second
)

// An address is where a shard of a Cluster is: clients go where the servers send them, so
// there are no proxies on the way.
type address struct {
	host string
	port int
}

// newAddress is one whose port is free, and so is that for the other servers.
func newAddress() (address, error) {
	a := address{host: loopback.Own()}
	for range 1000 {
		a.port = 12000 + rand.IntN(9000) // below what the kernel gives away
		if a.free() {
			return a, nil
		}
	}
	return a, fmt.Errorf("no port is free for a shard of a Cluster")
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

func (a address) free() bool {
	for _, port := range []int{a.port, a.port + busOffset} {
		l, err := net.Listen("tcp", address{a.host, port}.String())
		if err != nil || l.Close() != nil {
			return false
		}
	}
	return true
}

// args has a server be a shard there. The others never decide that it has failed: one that is
// stuck keeps its names.
func (a address) args() []string {
	return []string{
		"--port", strconv.Itoa(a.port), "--bind", a.host, "--cluster-announce-ip", a.host, "--cluster-enabled", "yes",
		"--cluster-require-full-coverage", "no", "--cluster-node-timeout", "3600000",
	}
}

// gather makes the servers a Cluster, in which each has an equal part of the slots, and learns
// which of them has which lock.
func (r *Run) gather() error {
	ctx, cancel := context.WithTimeout(context.Background(), clusterReady)
	defer cancel()
	for i, n := range r.nodes {
		first, next := i*clusterSlots/len(r.nodes), (i+1)*clusterSlots/len(r.nodes)
		if err := n.direct.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
		if err := n.direct.ClusterAddSlotsRange(ctx, first, next-1).Err(); err != nil {
			return err
		}
		for _, other := range r.nodes[:i] {
			if err := n.direct.ClusterMeet(ctx, other.address.host, strconv.Itoa(other.address.port)).Err(); err != nil {
				return err
			}
		}
	}
	for _, n := range r.nodes {
		if err := n.joined(ctx, len(r.nodes)); err != nil {
			return err
		}
	}
	r.shards = make(map[string]int)
	for _, name := range r.Cell.Locks {
		slot, err := r.nodes[0].direct.ClusterKeySlot(ctx, name).Result()
		if err != nil {
			return err
		}
		r.shards[name] = int(slot) * len(r.nodes) / clusterSlots
	}
	return nil
}

// joined waits until the server knows so many, and where all slots are.
func (n *node) joined(ctx context.Context, servers int) error {
	for last := ""; ; {
		info := n.direct.ClusterInfo(ctx).Val()
		if strings.Contains(info, "cluster_state:ok") &&
			strings.Contains(info, fmt.Sprintf("cluster_slots_ok:%d\r\n", clusterSlots)) &&
			strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r\n", servers)) {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the servers of a Cluster do not find each other: %w; %s", ctx.Err(), last)
		}
		last = info
		time.Sleep(20 * time.Millisecond)
	}
}
