package virtual

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// miniredis keeps with each connection what only it can read: whether it is in a transaction, and so on. A
// connection by which a script runs commands is marked there as such: the server is locked already.

// contextSource is a script that is run to see such a mark. It stands in the mark, and in errors that are about it.
const contextSource = "return redis.call('VIRTUAL.CONTEXT')"

var contextSHA = hash(contextSource)

// seenContext is the mark as miniredis has made it, which is the same for each server.
var seenContext = sync.OnceValue(func() (seen reflect.Value) {
	m := miniredis.NewMiniRedis()
	defer m.Close()
	c, err := m.Dial() // this is how it starts without a listener
	if err == nil {
		err = c.Close()
	}
	if err == nil {
		err = m.Server().Register("VIRTUAL.CONTEXT", func(c *server.Peer, _ string, _ []string) {
			seen = reflect.ValueOf(c.Ctx).Elem()
			c.WriteOK()
		})
	}
	if err != nil {
		panic(fmt.Sprintf("virtual: miniredis without a network: %v", err))
	}
	m.Server().Dispatch(server.NewPeer(bufio.NewWriter(io.Discard)), []string{"EVAL", contextSource, "0"})
	return seen
})

// nestedContext is the mark of a script's own connection, which begins in the first database.
func nestedContext() any {
	seen := seenContext()
	own := reflect.New(seen.Type())
	own.Elem().Set(seen)
	return own.Interface()
}

// contextFields finds what it says in a mark.
var contextFields = sync.OnceValue(func() (f struct{ nested, transaction, subscriber, database []int }) {
	for name, index := range map[string]*[]int{
		"nested": &f.nested, "transaction": &f.transaction, "subscriber": &f.subscriber, "selectedDB": &f.database,
	} {
		field, ok := seenContext().Type().FieldByName(name)
		if !ok {
			panic("virtual: miniredis knows no " + name + " of a connection any more: see ordinary")
		}
		*index = field.Index
	}
	return f
})

// ordinary tells whether a command that comes by c is to be run at once, in the first database, and is of no script.
func ordinary(c *server.Peer) bool {
	if c.Ctx == nil {
		return true
	}
	mark, fields := reflect.ValueOf(c.Ctx).Elem(), contextFields()
	return !mark.FieldByIndex(fields.nested).Bool() && mark.FieldByIndex(fields.database).Int() == 0 &&
		mark.FieldByIndex(fields.transaction).IsNil() && mark.FieldByIndex(fields.subscriber).IsNil()
}
