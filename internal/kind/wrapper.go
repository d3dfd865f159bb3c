package kind

// wrappers find the lock that a kind's public type wraps.
var wrappers []func(lock any) (inner any, ok bool)

// Wraps registers how to find the lock in a kind's public type, which package lock does not know.
// It is called before main begins; only package engine should call it.
func Wraps(unwrap func(lock any) (inner any, ok bool)) { wrappers = append(wrappers, unwrap) }

// Unwrap returns the lock that package lock made from a kind's public type, or lock itself if it is
// not a wrapper.
func Unwrap(lock any) any {
	for _, unwrap := range wrappers {
		if inner, ok := unwrap(lock); ok {
			return inner
		}
	}
	return lock
}
