package lock

import "errors"

// failure is the error of a lease that is over, always the same value, or nil. It is created on
// demand, because few callers ask. Called with hold.mu held.
func (l *Lease) failure() error {
	if l.reason == ReasonNone {
		return nil
	}
	if l.failed == nil {
		l.failed = l.hold.failure("", l.reason)
	}
	return l.failed
}

// failure is the error of a lease that is over for reason. Called with mu held.
func (h *hold) failure(op string, reason Reason) *LeaseError {
	e := &LeaseError{Op: op, Name: h.by.name, Hold: h.name(), Err: reason.end(), Reason: reason}
	if reason == ReasonNotRenewed {
		e.Last = h.last
	}
	return e
}

// fail is the error of an operation on a hold that is over for reason.
func (h *hold) fail(op string, reason Reason) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure(op, reason)
}

// wrap adds to err which operation has failed on which hold, and the reason, if err has one.
func (h *hold) wrap(op string, err error) error {
	var e *LeaseError
	if errors.As(err, &e) && e.Hold == h.name() { // a context may have ended with the loss of another
		of := *e
		of.Op = op
		return &of
	}
	return &LeaseError{Op: op, Name: h.by.name, Hold: h.name(), Err: err}
}
