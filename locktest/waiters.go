package locktest

// Waiters returns how many calls have found name locked and wait for it now, in all processes. In a
// bubble, call Advance or synctest.Wait first, so that calls that are about to wait do so.
func (f *Fake) Waiters(name string) int {
	f.ledger.mu.Lock()
	defer f.ledger.mu.Unlock()
	n := 0
	for _, waits := range f.ledger.waits {
		if waits == name {
			n++
		}
	}
	return n
}
