package redlock

// A Server is one of the servers of a node: the node itself, or a shard of a Cluster. Servers are equal if they
// are the same.
type Server struct {
	node int
	lane *lane
}

// Server returns the server of the node at index i that has key, as far as is known.
func (g *Group) Server(i int, key string) Server { return Server{i, g.nodes[i].way(key)} }

// Node returns the index of the server's node.
func (s Server) Node() int { return s.node }
