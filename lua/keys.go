package lua

import (
	"errors"
	"fmt"
	"strings"
)

// MaxNameLength is the maximum length of a lock's name, in bytes.
const MaxNameLength = 1024

// Keys are the names of all keys of one lock. They share a hash tag and so a Cluster slot. Only the
// lock's own key is stored, because a program may have very many locks, and a call needs only two
// or three of the other keys. The zero value names nothing; use [NewKeys]. Keys is immutable and
// safe for concurrent use.
type Keys struct {
	Lock string // hash: hold id -> hold count
}

// Token names a string: the fencing counter.
func (k Keys) Token() string { return k.Lock + tokenSuffix }

// Void names a sorted set: voided hold ids.
func (k Keys) Void() string { return k.Lock + voidSuffix }

// tokenAndVoid are both in one string: what every acquisition needs.
func (k Keys) tokenAndVoid() (token, void string) {
	both := k.Lock + tokenSuffix + k.Lock + voidSuffix
	n := len(k.Lock) + len(tokenSuffix)
	return both[:n], both[n:]
}

// ofPermits are all companions that the scripts of a semaphore need, in one string, for what every acquisition needs.
func (k Keys) ofPermits() (token, void, queue, waiters, permits, slots, free string) {
	all := k.Lock + tokenSuffix + k.Lock + voidSuffix + k.Lock + queueSuffix + k.Lock + waitersSuffix +
		k.Lock + permitsSuffix + k.Lock + slotsSuffix + k.Lock + freeSuffix
	cut := func(suffix string) string {
		n := len(k.Lock) + len(suffix)
		key := all[:n]
		all = all[n:]
		return key
	}
	return cut(tokenSuffix), cut(voidSuffix), cut(queueSuffix), cut(waitersSuffix), cut(permitsSuffix), cut(slotsSuffix), cut(freeSuffix)
}

// Queue names a sorted set, waiting hold id -> ticket.
func (k Keys) Queue() string { return k.Lock + queueSuffix }

// Waiters names a hash, waiting hold id -> alive until, since.
func (k Keys) Waiters() string { return k.Lock + waitersSuffix }

// Note names a string: the hold's label and note, for people.
func (k Keys) Note() string { return k.Lock + noteSuffix }

// Readers names a sorted set of a read-write lock, reading hold id -> alive until.
func (k Keys) Readers() string { return k.Lock + readersSuffix }

// Permits names a sorted set of a semaphore, hold id -> alive until.
func (k Keys) Permits() string { return k.Lock + permitsSuffix }

// Slots names a hash of a semaphore, hold id -> token, slots.
func (k Keys) Slots() string { return k.Lock + slotsSuffix }

// Free names a sorted set of a semaphore: free slots.
func (k Keys) Free() string { return k.Lock + freeSuffix }

// Ready names nothing: there never is such a key.
func (k Keys) Ready() string { return k.Lock + readySuffix }

// Channel is the Pub/Sub channel for messages that a hold has ended.
func (k Keys) Channel() string { return k.Lock + channelSuffix }

// NewKeys builds the keys of the lock called name. The name becomes the hash tag: prefix:{name}. A
// name or a prefix that contains a hash tag is used as it is.
func NewKeys(prefix, name string) (Keys, error) {
	switch {
	case name == "":
		return Keys{}, errors.New("the name of a lock is empty")
	case len(name) > MaxNameLength:
		return Keys{}, fmt.Errorf("the name of a lock is %d bytes long, the limit is %d", len(name), MaxNameLength)
	case prefix == "":
		return Keys{}, errors.New("the key prefix is empty")
	}
	key := prefix + ":" + name
	if !hasTag(key) {
		key = prefix + ":{" + name + "}"
	}
	// A brace in an odd place can leave the key without a tag after all, and the
	// companions would land in other slots.
	if !hasTag(key) {
		return Keys{}, fmt.Errorf("the braces in %q make no hash tag: a Cluster could not keep the keys of this lock together", prefix+":"+name)
	}
	// Without a tag of its own the key ends with a brace, and this cannot be.
	for _, suffix := range companions {
		if strings.HasSuffix(key, suffix) {
			return Keys{}, fmt.Errorf("the name of a lock with a hash tag of its own must not end with %q: another lock keeps its %s there", suffix, suffix[1:])
		}
	}
	return Keys{Lock: key}, nil
}

// What the keys beside the lock's own end with.
const (
	tokenSuffix   = ":token"
	voidSuffix    = ":void"
	queueSuffix   = ":queue"
	waitersSuffix = ":waiters"
	noteSuffix    = ":note"
	readersSuffix = ":readers"
	permitsSuffix = ":permits"
	slotsSuffix   = ":slots"
	freeSuffix    = ":free"
	readySuffix   = ":ready"
	channelSuffix = ":channel"
)

var companions = []string{tokenSuffix, voidSuffix, queueSuffix, waitersSuffix, noteSuffix, readersSuffix,
	permitsSuffix, slotsSuffix, freeSuffix, readySuffix}

// ClientChannels is the prefix of the clients' Pub/Sub channels: a client's own id follows. They
// carry messages for a single waiter of that client, for all of its locks.
func ClientChannels(prefix string) string { return prefix + ":channel:" }

// hasTag reports whether Redis Cluster hashes only a part of key: the text between the first { and
// the first } after it, unless that is empty.
func hasTag(key string) bool {
	_, rest, found := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	return found && closed && tag != ""
}
