package lua

import (
	"errors"
	"fmt"
	"strings"
)

// MaxNameLength is the longest name of a lock, in bytes.
const MaxNameLength = 1024

// Keys are the names of everything that one lock has in Redis. They share a hash
// tag and so a Cluster slot. The zero value names nothing; use [NewKeys]. Keys is
// immutable and safe for concurrent use.
type Keys struct {
	Lock    string // hash: hold id -> hold count
	Token   string // string: fencing counter
	Void    string // zset: voided hold ids
	Queue   string // zset: fair queue, waiting hold id -> ticket
	Waiters string // hash: fair queue, waiting hold id -> alive until, since
	Note    string // string: what is written about the hold, for people
	Readers string // zset: read-write lock, hold id that reads -> alive until
	Permits string // zset: semaphore, hold id -> alive until
	Slots   string // hash: semaphore, hold id -> token, slots
	Free    string // zset: semaphore, free slots
	Channel string // Pub/Sub channel: a hold has ended
}

// NewKeys builds the keys of the lock called name. The name becomes the hash tag:
// prefix:{name}. A name, or a prefix, that brings a hash tag of its own is used as it is.
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
	return KeysOf(key), nil
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
)

var companions = []string{tokenSuffix, voidSuffix, queueSuffix, waitersSuffix, noteSuffix, readersSuffix,
	permitsSuffix, slotsSuffix, freeSuffix}

// KeysOf builds the keys of the lock whose Lock key is lock. All of them share one string:
// there may be many locks.
func KeysOf(lock string) Keys {
	const channelSuffix = ":channel"
	all := lock + tokenSuffix + lock + voidSuffix + lock + queueSuffix + lock + waitersSuffix + lock + noteSuffix + lock + readersSuffix +
		lock + permitsSuffix + lock + slotsSuffix + lock + freeSuffix + lock + channelSuffix
	next := func(suffix string) string {
		key := all[:len(lock)+len(suffix)]
		all = all[len(key):]
		return key
	}
	return Keys{
		Lock:    lock,
		Token:   next(tokenSuffix),
		Void:    next(voidSuffix),
		Queue:   next(queueSuffix),
		Waiters: next(waitersSuffix),
		Note:    next(noteSuffix),
		Readers: next(readersSuffix),
		Permits: next(permitsSuffix),
		Slots:   next(slotsSuffix),
		Free:    next(freeSuffix),
		Channel: next(channelSuffix),
	}
}

// ClientChannels is what the Pub/Sub channels of clients begin with: a client's own id
// follows. They carry what concerns one waiter of that client, for all of its locks.
func ClientChannels(prefix string) string { return prefix + ":channel:" }

// hasTag tells whether Redis Cluster hashes only a part of key: what stands
// between the first { and the first } after it, unless that is empty.
func hasTag(key string) bool {
	_, rest, found := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	return found && closed && tag != ""
}
