package lock_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// Who has what, of all names that begin with "orders:".
func ExampleList() {
	nodes, disconnect := connect(3)
	defer disconnect()
	locks, err := lock.NewClient(nodes, lock.WithLabel("web-3"))
	if err != nil {
		log.Fatal(err)
	}
	defer locks.Close()

	ctx := context.Background()
	export := reentrant.New(locks, "orders:42", lock.WithNote("nightly export"))
	err = export.Do(ctx, func(ctx context.Context) error {
		return reentrant.New(locks, "stock").Do(ctx, func(ctx context.Context) error {
			for entry, err := range lock.List(ctx, locks, "orders:*") {
				if err != nil {
					return err
				}
				fmt.Println(entry.Name, "is", entry.State.Status, "by", entry.State.Label)
			}
			return nil
		})
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: orders:42 is held by web-3
}

// What Inspect returns is made to be printed. Here one of three nodes is down, and only one
// of the others has the hold: it may have a quorum, or not.
func ExampleState() {
	state := lock.State{
		Status: lock.StatusUnknown,
		Token:  7,
		Nodes: []lock.NodeState{
			{Address: "10.0.0.1:6379", Reachable: true, Holder: "a49a:1", Count: 1, TTL: 29500 * time.Millisecond, Token: 7},
			{Address: "10.0.0.2:6379", Reachable: true, Token: 7},
			{Address: "10.0.0.3:6379", Err: errors.New("no answer within the node timeout")},
		},
	}
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state.Status)
	fmt.Println(string(text))
	// Output:
	// unknown
	// {
	//   "status": "unknown",
	//   "held": false,
	//   "token": 7,
	//   "nodes": [
	//     {
	//       "address": "10.0.0.1:6379",
	//       "reachable": true,
	//       "holder": "a49a:1",
	//       "count": 1,
	//       "ttl": "29.5s",
	//       "token": 7
	//     },
	//     {
	//       "address": "10.0.0.2:6379",
	//       "reachable": true,
	//       "token": 7
	//     },
	//     {
	//       "address": "10.0.0.3:6379",
	//       "reachable": false,
	//       "err": "no answer within the node timeout"
	//     }
	//   ]
	// }
}
