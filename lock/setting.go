package lock

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/internal/caption"
)

const (
	// minBeat keeps the signs of life of waiters from crowding out everything else.
	minBeat = 50 * time.Millisecond
	// minSign is the shortest time between two of them.
	minSign = minBeat / 4
)

// settings are the settings of one lock.
type settings struct {
	ttl     time.Duration
	renew   bool
	maxHold time.Duration
	beat    time.Duration // of a waiter in a fair queue
	note    string
	minHold time.Duration
	rest    time.Duration
	apart   bool // each hold is a tenure of its own
}

// A dead waiter is dropped when the next one gives a sign after the life of the last sign is over:
// together no later than the heartbeat, if both have the same.

// sign is how often a waiter gives a sign of life. By the answer it learns that it has come up to the head, and when
// the holder's time is over: so it asks before that is.
func (s settings) sign() time.Duration { return max(minSign, min(s.beat/4, s.ttl)) }

// patience is how long a command of a hold may wait behind others that are sent to the same node,
// since it is neither repeated nor renewed sooner.
func patience(ttl time.Duration) time.Duration { return ttl / 6 }

// life is how long a waiter counts as alive after a sign: two more can fail.
func (s settings) life() time.Duration { return s.beat * 3 / 4 }

// granted is the TTL of the key of a new hold.
func (s settings) granted() time.Duration { return s.extended(max(s.ttl, s.minHold)) }

// extended is the TTL of a key whose lease is extended by ttl.
func (s settings) extended(ttl time.Duration) time.Duration { return ttl + s.rest }

// maxDuration bounds what options set. Multiples of it, and dates that far ahead, are still
// numbers on either side.
const maxDuration = 10 * 365 * 24 * time.Hour

// check refuses settings that no lock of c can work with.
func (s *settings) check(c *core) error {
	if err := c.checkTTL(s.ttl); err != nil {
		return err
	}
	switch {
	case s.minHold < 0:
		return fmt.Errorf("the min hold is %v, it must not be negative", s.minHold)
	case s.minHold > maxDuration:
		return fmt.Errorf("the min hold is %v, it must not be more than %v", s.minHold, maxDuration)
	case s.rest < 0:
		return fmt.Errorf("the rest is %v, it must not be negative", s.rest)
	case s.rest > maxDuration:
		return fmt.Errorf("the rest is %v, it must not be more than %v", s.rest, maxDuration)
	case s.maxHold < 0:
		return fmt.Errorf("the max hold is %v, it must not be negative", s.maxHold)
	case s.maxHold > maxDuration:
		return fmt.Errorf("the max hold is %v, it must not be more than %v", s.maxHold, maxDuration)
	case s.beat < minBeat:
		return fmt.Errorf("the waiter heartbeat of %v is too short, the minimum is %v", s.beat, minBeat)
	case s.beat > maxDuration:
		return fmt.Errorf("the waiter heartbeat is %v, it must not be more than %v", s.beat, maxDuration)
	}
	if err := c.checkKey(s.granted()); err != nil {
		return err
	}
	return caption.Check("note", s.note, caption.MaxNote)
}

// checkKey refuses a lifetime that a key cannot have: a TTL or the min hold, plus the rest.
func (c *core) checkKey(d time.Duration) error {
	switch {
	case d >= c.retention:
		return fmt.Errorf("the key would live for %v (TTL or min hold, plus rest), which is too long: fencing counters are kept for %v, and must outlive every hold", d, c.retention)
	case c.guard > 0 && d > c.guard:
		return fmt.Errorf("the key would live for %v (TTL or min hold, plus rest), longer than the restart guard of %v: a restarted node could grant a lock that is held", d, c.guard)
	}
	return nil
}

func (c *core) checkTTL(ttl time.Duration) error {
	switch drift := c.group.Drift(ttl); {
	case ttl <= drift:
		return fmt.Errorf("the TTL of %v is too short: nothing is left of it after a clock drift of %v", ttl, drift)
	case ttl >= c.retention:
		return fmt.Errorf("the TTL of %v is too long: fencing counters are kept for %v, and must outlive every hold", ttl, c.retention)
	case c.guard > 0 && ttl > c.guard:
		return fmt.Errorf("the TTL of %v is longer than the restart guard of %v: a restarted node could grant a lock that is held", ttl, c.guard)
	}
	return nil
}
