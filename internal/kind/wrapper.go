package kind

// wrappers find the lock that a kind's public type wraps.
var wrappers []func(lock any) (inner any, ok bool)

// Wraps tells how to find the lock in what users have of a kind, which package lock does not know. It is
// called before main begins; only package engine should.
func Wraps(unwrap func(lock any) (inner any, ok bool)) { wrappers = append(wrappers, unwrap) }

// Unwrap is the lock that package lock made, of what users have: lock itself, if it is no wrapper.
func Unwrap(lock any) any {
	for _, unwrap := range wrappers {
		if inner, ok := unwrap(lock); ok {
			return inner
		}
	}
	return lock
}
