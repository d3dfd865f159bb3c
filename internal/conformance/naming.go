package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

var naming = rules{
	"NameIsTheOneItWasMadeWith": func(t *stage) {
		l := t.locker()
		require.Equal(t, t.name, l.Name())
		lease := t.acquire(bg, l)
		require.Equal(t, t.name, lease.Name())
		t.unlock(lease)
	},

	"HandlesOfOneNameAreOneLock": func(t *stage) {
		c := t.client()
		lease := t.acquire(bg, t.on(c))
		t.requireTaken(t.on(c), lease)
		t.requireTaken(t.locker(), lease)
		t.unlock(lease)
	},

	"LocksOfDifferentNamesDoNotMeet": func(t *stage) {
		c := t.client()
		lease := t.acquire(bg, t.on(c))
		other := t.acquire(bg, t.named(c, t.name+" b"))
		require.NotEqual(t, lease.ID(), other.ID())
		t.unlock(lease, other)
	},

	"NameWithBracesIsUsedAsItIs": func(t *stage) {
		c := t.client()
		for _, name := range []string{"{" + t.name + "}", "{" + t.name + "}:42", "a {" + t.name + "} b}", "}{" + t.name + "}"} {
			l := t.kind.New(c, name)
			lease := t.acquire(bg, l)
			inner := t.acquire(lease.Context(bg), l)
			t.unlock(inner)
			t.requireTaken(l, lease)
			for _, n := range t.nodes {
				t.eventually(func() bool { return n.ttl(t, "lock:"+name) > 0 }, "the key is lock:%s", name)
			}
			t.unlock(lease)
		}
	},

	"NamesMayHoldAnyBytesAndBeLong": func(t *stage) {
		c := t.client()
		strange := t.name + " \x00\xff\r\n*[?] ❤"
		for _, name := range []string{strange, t.name + strings.Repeat("x", lua.MaxNameLength-len(t.name))} {
			l := t.kind.New(c, name)
			lease := t.acquire(bg, l)
			t.requireTaken(t.kind.New(c, name), lease)
			t.unlock(lease)
			t.requireFree(l)
		}
	},

	"PrefixKeepsClientsApart": func(t *stage) {
		lease := t.acquire(bg, t.locker())
		tenant := t.client(lock.WithPrefix("tenant 7"))
		other := t.acquire(bg, t.on(tenant))
		require.NotEqual(t, lease.ID(), other.ID())
		for _, n := range t.nodes {
			t.eventually(func() bool { return n.ttl(t, "tenant 7:{"+t.name+"}") > 0 }, "the key has the prefix")
			for _, key := range n.keys(t, t.name) {
				require.Regexp(t, "^(lock|tenant 7):{"+t.name+"}", key)
			}
		}
		t.unlock(lease, other)
	},
}
