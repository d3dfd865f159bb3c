package lock

// A service is the result of a look at whose turn within a tenure it is. It is carried out without any mu (carry.go).
type service struct {
	passing passing
	asks    int64 // up to which token the nodes are asked; 0: they are not
	reads   bool  // the nodes are told that the tenure reads from now on
	reviews bool  // time may change whose turn it is: there is to be a look soon
}

// A passing is what happens to a tenure when a hold within it has ended.
type passing uint8

const (
	waits  passing = iota // the next hold, for what the nodes are asked
	passed                // the next hold has begun
	ends                  // the nodes are to be told
	ended                 // by somebody else
)
