package kind

// A Maker makes the lock called name, of kind k. client is a *lock.Client, opts a []lock.Option,
// and the result has the methods of engine.Engine: types that this package cannot name, as
// package lock imports it.
type Maker func(client any, k Kind, name string, opts any) any

var maker Maker

// Provide is called by package lock, before main begins.
func Provide(m Maker) { maker = m }

// Make calls the Maker that was provided. Only package engine should: it knows the types.
func Make(client any, k Kind, name string, opts any) any { return maker(client, k, name, opts) }
