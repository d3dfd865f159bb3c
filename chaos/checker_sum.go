package main

// checkSum finds a transfer between two accounts after which they have more or less than
// before: one that was computed from what the accounts did not have any more (I1, I3).
func checkSum(h *History) []Violation {
	if !h.Cell.Transfer {
		return nil
	}
	var found []Violation
	balance := make(map[string]int64)
	for _, a := range h.Store {
		if !a.OK || !a.Write {
			continue
		}
		balance[a.Name] = a.Value
		if a.With != nil {
			continue // the other half follows
		}
		var sum int64
		for _, b := range balance {
			sum += b
		}
		if sum != 0 {
			return append(found, violation(a.At, "the accounts have %v, and %d in place of nothing together, after %s/%d", balance, sum, a.Proc, a.Op))
		}
	}
	return found
}
