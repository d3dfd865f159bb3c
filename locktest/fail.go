package locktest

import "testing"

// FailNext makes the next acquisition of name fail with err, before any node is asked. An
// acquisition is a Lock, TryLock or Do of any kind, or an Acquire, by any client of the Fake. Its
// error is a [*lock.AcquireError] that wraps err. Several calls make as many acquisitions fail. A
// [Fake.Hold] belongs to another process, and is not affected. The test fails at its end if no
// acquisition has met the error.
//
// A re-entry is not affected either.
//
// FailNext is for errors that are hard to provoke. Prefer a fault if there is one: the errors
// caused by Hold, Stop and Partition have all the details of real ones.
func (f *Fake) FailNext(name string, err error) {
	f.t.Helper()
	if err == nil {
		f.t.Fatalf("locktest: FailNext(%q): the error is nil", name)
	}
	f.ledger.mu.Lock()
	defer f.ledger.mu.Unlock()
	f.ledger.failures[name] = append(f.ledger.failures[name], err)
}

// fail returns, once, the error for the next acquisition of name.
func (l *ledger) fail(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := l.failures[name]
	if len(errs) == 0 {
		return nil
	}
	l.failures[name] = errs[1:]
	return errs[0]
}

// checkFailures fails t for errors that nobody has met.
func (l *ledger) checkFailures(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, errs := range l.failures {
		for _, err := range errs {
			t.Errorf("locktest: FailNext(%q): nobody has met the error %q: since then no call has tried to lock it, but to re-enter", name, err)
		}
	}
}
