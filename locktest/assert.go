package locktest

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/lock"
)

// AssertHeld fails the test, which continues, unless [lock.Holds] is true for ctx and name.
func AssertHeld(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	if lock.Holds(ctx, name) {
		return
	}
	l, found := lock.FromContext(ctx)
	switch {
	case !found:
		t.Errorf("locktest: %q is not held: the context comes from no lease. Pass on that of Lease.Context, or of Do", name)
	case l.Err() != nil:
		t.Errorf("locktest: %q is not held: the context comes from a lease that is over: %v", name, l.Err())
	case l.Name() == name:
		t.Errorf("locktest: %q is not held: the context comes from a lease of it, and WithoutOwner has hidden that", name)
	default:
		t.Errorf("locktest: %q is not held: the context comes from a lease of %q", name, l.Name())
	}
}
