package lua

import "time"

// Lingers is the end of the field that replaces a hold id while a lock stays taken without its
// holder.
const Lingers = " lingers"

// Kept is the end of the message that a lock stays taken without the hold called so before, and for how long has
// to be asked.
const Kept = " kept"

// Keep calls keep.lua: it lets a lock stay taken for a while when its holder has gone.
type Keep struct {
	Fair
	Hold   string
	For    time.Duration
	Mark   time.Duration // life of the mark that voids the hold id; 0: no mark
	Queued bool          // the lock has a queue
	Noted  bool          // the hold has a note
}

// Call makes the call. Its replies are those of [Release].
func (k Keep) Call() Call {
	args := append(newCall(keepScript, 5, 5), k.Keys.Lock)
	if k.Mark > 0 || k.Noted || k.Queued {
		args = append(args, k.Keys.Void())
	}
	if k.Noted || k.Queued {
		args = append(args, k.Keys.Note())
	}
	if k.Queued {
		args = append(args, k.Keys.Queue(), k.Keys.Waiters())
	}
	args[2] = len(args) - 3
	args = append(args, k.Hold, Millis(k.For), Millis(k.Mark))
	if !k.Queued {
		return Call{script: keepScript, args: append(args, ofChannel)}
	}
	return Call{script: keepScript, args: append(args, k.Channel, flag(k.Alone))}
}
