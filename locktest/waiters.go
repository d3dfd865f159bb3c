package locktest

// Waiters is how many calls have found name locked and wait for it now, in all processes. In a
// bubble, call Advance or synctest.Wait first, so that those which are about to wait do.
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
