package lua

import (
	"strconv"
	"strings"
	"time"
)

// Far calls far.lua: it tells processes that take the lock in turns that one of them is farther away than
// the others.
type Far struct {
	Keys Keys
	Life time.Duration // of the mark
	FarMark
}

// A FarMark is the mark of a process that is farther away than others.
type FarMark struct {
	ID     string        // that of the process, a colon, and a number that grows
	Chance time.Duration // for how long the others must leave a free lock alone
}

// Call makes the call.
func (f Far) Call() Call {
	return Call{script: farScript, args: append(newCall(farScript, 1, 3), f.Keys.Void(), Millis(f.Life), f.ID, Millis(f.Chance))}
}

// ParseFar reads a reply of far.lua.
func ParseFar(reply any) (marked bool, err error) {
	if n, ok := reply.(int64); ok && (n == 0 || n == 1) {
		return n == 1, nil
	}
	return false, &unexpected{farScript, reply}
}

// parseFarMark reads a mark as far.lua has written it.
func parseFarMark(mark any) (m FarMark, ok bool) {
	text, _ := mark.(string)
	text, ok = strings.CutPrefix(text, "far ")
	id, chance, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(chance, 10, 32)
	return FarMark{ID: id, Chance: time.Duration(n) * time.Millisecond}, ok && err == nil && n >= 0
}

// parseMarks reads what marks.lua tells of others besides the answer: of one who cannot listen, and of those
// that are far.
func parseMarks(others []any) (deaf bool, far []FarMark, ok bool) {
	deaf = others[0] == int64(1)
	if !deaf && others[0] != int64(0) {
		return false, nil, false
	}
	for _, mark := range others[1:] {
		m, good := parseFarMark(mark)
		if !good {
			return false, nil, false
		}
		far = append(far, m)
	}
	return deaf, far, true
}
