package lua

import "time"

// Lingers is the end of the field that replaces a hold id while a lock stays taken without its
// holder.
const Lingers = " lingers"

// Keep calls keep.lua: it lets a lock stay taken for a while when its holder has gone.
type Keep struct {
	Keys  Keys
	Hold  string
	For   time.Duration
	Noted bool // the hold has a note
}

// Call makes the call. Its replies are those of [Release].
func (k Keep) Call() Call {
	args := append(newCall(keepScript, 1, 3), k.Keys.Lock)
	if k.Noted {
		args[2] = 2
		args = append(args, k.Keys.Note())
	}
	return Call{script: keepScript, args: append(args, k.Hold, Millis(k.For))}
}
