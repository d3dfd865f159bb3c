package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"time"
)

const slots = 16384

// startCluster starts n masters that are one Cluster.
func startCluster(dir string, n int) (servers, error) {
	var list servers
	for i := range n {
		one, err := startServers(dir, 1, "--cluster-enabled", "yes",
			"--cluster-config-file", filepath.Join(dir, "nodes-"+strconv.Itoa(i)+".conf"))
		if err != nil {
			list.close()
			return nil, err
		}
		list = append(list, one...)
	}
	if err := list.join(context.Background()); err != nil {
		list.close()
		return nil, err
	}
	return list, nil
}

// join makes a Cluster of servers, and waits until each of them knows all slots.
func (list servers) join(ctx context.Context) error {
	for i, s := range list {
		if err := s.admin.ClusterAddSlotsRange(ctx, i*slots/len(list), (i+1)*slots/len(list)-1).Err(); err != nil {
			return err
		}
		if err := s.admin.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
		for _, other := range list[:i] {
			host, port, err := net.SplitHostPort(other.addr)
			if err != nil {
				return err
			}
			if err := s.admin.ClusterMeet(ctx, host, port).Err(); err != nil {
				return err
			}
		}
	}
	for deadline := time.Now().Add(readyWithin); ; time.Sleep(10 * time.Millisecond) {
		ready := 0
		for _, s := range list {
			info, err := s.admin.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			fields := infoFields(info)
			if fields["cluster_state"] == "ok" && fields["cluster_known_nodes"] == strconv.Itoa(len(list)) {
				ready++
			}
		}
		if ready == len(list) {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("the masters do not become a Cluster")
		}
	}
}
