package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/caption"
	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// ErrNoLeader says that nobody leads at the moment.
var ErrNoLeader = errors.New("no leader")

// An Election is one candidate's part in the election of a leader. It is safe for concurrent use,
// and holds no state: any number of Elections may stand for one name. The zero value is not usable;
// use [New].
type Election struct {
	mutex     *fair.Mutex
	candidate string
	invalid   error // why the candidate is refused; nil: it is not
}

// New returns the election called name, for the candidate with this name, which [Election.Leader]
// shows. The candidate's name must be printable and no longer than 256 bytes. A program that only
// watches needs no candidate, and leaves it empty. New talks to no node; invalid arguments are the
// error of every call. The candidate takes the place of [lock.WithNote].
func New(c *lock.Client, name, candidate string, opts ...lock.Option) *Election {
	// A term that was passed on within this process would not be what Redis shows of it: neither its hold id nor,
	// because tokens are reserved before they are given out, its token.
	opts = append(opts[:len(opts):len(opts)], lock.WithNote(candidate), engine.Apart())
	e := &Election{mutex: fair.New(c, name, opts...), candidate: candidate}
	// The lock's own error would be about a note, which the caller has not given.
	if err := caption.Check("candidate's name", candidate, caption.MaxNote); err != nil {
		e.invalid = fmt.Errorf("election %q: %w", name, err)
	}
	return e
}

// Name is the name given to New.
func (e *Election) Name() string { return e.mutex.Name() }

// A Term is the time for which one candidate leads. The zero value is a term of nobody.
type Term struct {
	Candidate string
	Token     int64     // the term's number, a fencing token: greater than that of every term before
	Since     time.Time // when it began, as far as this process's clock can tell; zero: not known
	Hold      string    // the id of the leader's hold, as it stands in Redis
}

// Run stands as a candidate until ctx ends, and leads when it is elected: it calls lead with a
// context that ends with ctx, and with the loss of the leadership. In case of a loss, the context's
// cause is a [*lock.LeaseError]. The leadership is given back after lead has returned, or panicked.
// Only the end of the client comes before that: wait for Run to return before [lock.Client.Close].
//
// Run returns when lead does: with lead's error itself, or joined with the error of giving the
// leadership back. If lead returns nil, it resigns.
//
// If the leadership was lost while lead ran, so that lead's context had ended when it returned, Run
// stands as a candidate again, and waits even for nodes that refuse its commands. There are two
// exceptions: ctx has ended too, or lead returned an error that has nothing to do with the loss
// (neither context.Canceled nor [lock.ErrLost]); in the latter case Run returns that error, joined
// with the loss. If the loss is found only after lead has returned, Run joins it to lead's error and
// returns: lead did not return because of it, and a nil was meant to resign. A lead that wants to
// resign in any case, even if the leadership is lost, must end ctx.
//
// The owner that ctx may carry does not lead, nor does lead's context carry it: in lead, a lock that it holds is another's.
//
// If ctx ends before the candidate is elected, the error is a [*lock.AcquireError]. If the client
// is closed, the leadership and lead's context end at once, and Run ends with [lock.ErrClosed] when
// lead has returned. [lock.Client.Shutdown] ends the Run of a candidate that waits so, and lets a
// leader lead until lead returns or Shutdown's own context ends, which closes the client.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context, term Term) error) error {
	if e.invalid != nil {
		return e.invalid
	}
	if e.candidate == "" {
		return fmt.Errorf("election %q: the candidate has no name", e.Name())
	}
	if lead == nil {
		return fmt.Errorf("election %q: Run has no function to call", e.Name())
	}
	for led := false; ; led = true {
		if again, err := e.campaign(ctx, lead, led); !again {
			return err
		}
	}
}

// isOver reports whether the lease is known to be over. It does not look at the clock.
func isOver(lease *lock.Lease) bool {
	select {
	case <-lease.Done():
		return true
	default:
		return false
	}
}

// campaign waits for one term and leads in it. It reports whether to campaign again. led says that the candidate has led
// before.
func (e *Election) campaign(ctx context.Context, lead func(context.Context, Term) error, led bool) (again bool, err error) {
	// If ctx carried an owner that already leads, it would be elected at once, a second time.
	wait := lock.WithoutOwner(ctx)
	if led {
		wait = engine.Patient(wait)
	}
	lease, err := e.mutex.Lock(wait)
	if err != nil {
		return false, err
	}
	// Deferred, so that a panic does not keep the leadership.
	defer func() {
		unseen := !isOver(lease) // lead cannot have returned because of a loss that is found below
		lost := lease.Err()
		released := lease.Unlock(ctx)
		switch {
		case lost == nil, unseen:
			again = false
			if released != nil { // else lead's error itself is returned
				err = errors.Join(err, released)
			}
		case ctx.Err() != nil, !errors.Is(lost, lock.ErrLost):
			again, err = false, errors.Join(err, lost)
		case err == nil, errors.Is(err, context.Canceled), errors.Is(err, lock.ErrLost):
			again, err = true, nil
		default:
			again, err = false, errors.Join(err, lost)
		}
	}()
	return false, lead(work(ctx, lease), Term{
		Candidate: e.candidate,
		Token:     lease.Token(),
		Since:     time.Now(),
		Hold:      lease.ID(),
	})
}
