package lua_test

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// Holds of a read-write lock tell by their ids what they want.
const (
	reader, reader2, reader3 = "a:1r", "b:1r", "c:1r"
	writer, writer2          = "a:2w", "b:2w"
)

var rw = lua.RW{Fair: line}

func rwAsk(hold string, ticket lua.Ticket, round int64) lua.Call {
	return lua.RWAcquire{RW: rw, Hold: hold, TTL: ttl, Retention: kept, Wait: true, Ticket: ticket, Round: round}.Call()
}

func rwTry(hold string) lua.Call { return rwTake(hold, ttl) }

func rwTake(hold string, ttl time.Duration) lua.Call {
	return lua.RWAcquire{RW: rw, Hold: hold, TTL: ttl, Retention: kept}.Call()
}

func rwEnd(hold string, mark time.Duration) lua.Call {
	return lua.RWRelease{RW: rw, Hold: hold, Mark: mark, Token: 1 << 52}.Call()
}

func rwUndo(hold string) lua.Call { return lua.RWRelease{RW: rw, Hold: hold, Undo: true}.Call() }

func rwYield(hold string, ticket lua.Ticket, round int64) lua.Call {
	return lua.RWYield{RW: rw, Hold: hold, Ticket: ticket, Round: round}.Call()
}

func rwSettle(hold string) lua.Call { return lua.RWSettle{RW: rw, Hold: hold}.Call() }

func rwBeat(holds ...string) lua.Call { return lua.RWBeat{RW: rw, Name: "beat", Holds: holds}.Call() }

func rwExtend(hold string, ttl time.Duration, reads bool) lua.Call {
	return lua.RWExtend{RW: rw, Hold: hold, Count: 1, TTL: ttl, Token: 7, Retention: kept, Reads: reads}.Call()
}

func rwRestore(hold string, token int64, reads bool) lua.Call {
	return lua.RWRestore{RW: rw, Hold: hold, Count: 1, TTL: ttl, Token: token, Retention: kept, Reads: reads, Uptime: time.Second}.Call()
}

func rwRepair(hold string, reads bool) lua.Call {
	return lua.RWRepair{RW: rw, Hold: hold, Count: 1, TTL: ttl, Token: 1 << 52, Retention: kept, Reads: reads}.Call()
}

func rwKeep(hold string, d time.Duration) lua.Call {
	return lua.RWKeep{RW: rw, Hold: hold, For: d}.Call()
}

func rwKeepVoid(hold string) lua.Call {
	return lua.RWKeep{RW: rw, Hold: hold, For: time.Second, Mark: marked}.Call()
}

func rwLook(hold string) lua.Call { return lua.RWLook{RW: rw, Hold: hold}.Call() }

func rwReserve(hold string, last int64) lua.Call {
	return lua.RWReserve{RW: rw, Hold: hold, Last: last, Retention: kept}.Call()
}

// rwTwice are the cases of the read-write lock for what comes twice.
func rwTwice() map[string]repeated {
	// One writes; behind it wait two that read, one that writes, one that reads.
	queue := calls(rwTry(writer2), rwAsk(reader, proposal(0), 1), rwAsk(reader2, proposal(0), 1), rwAsk(writer, proposal(0), 1), rwAsk(reader3, proposal(0), 1))
	free := slices.Concat(queue, calls(rwEnd(writer2, 0)))
	return map[string]repeated{
		"rw_acquire, to read":                     {nil, rwTry(reader)},
		"rw_acquire, to read with others":         {calls(rwTry(reader2)), rwTry(reader)},
		"rw_acquire, to read for longer":          {calls(rwTry(reader)), rwTake(reader, longer)},
		"rw_acquire, to read, refused":            {calls(rwTry(writer2)), rwTry(reader)},
		"rw_acquire, to write":                    {nil, rwTry(writer)},
		"rw_acquire, to write, a place":           {calls(rwTry(reader)), rwAsk(writer, proposal(0), 1)},
		"rw_acquire, to read, a place":            {calls(rwTry(reader), rwAsk(writer, proposal(0), 1)), rwAsk(reader2, proposal(0), 1)},
		"rw_acquire, a final place":               {queue, rwAsk(writer, final(9), 2)},
		"rw_acquire, its turn to read":            {free, rwAsk(reader2, final(2), 2)},
		"rw_acquire, again its turn":              {slices.Concat(free, calls(rwAsk(reader, final(1), 2))), rwAsk(reader, final(1), 3)},
		"rw_release of one that reads":            {calls(rwTry(reader), rwTake(reader2, longer)), rwEnd(reader2, 0)},
		"rw_release of the last that reads":       {calls(rwTry(reader), rwAsk(writer, proposal(0), 1)), rwEnd(reader, marked)},
		"rw_release of one that writes":           {queue, rwEnd(writer2, marked)},
		"rw_release of a place":                   {queue, rwEnd(writer, 0)},
		"rw_release, undone":                      {calls(rwTry(writer)), rwUndo(writer)},
		"rw_yield of one that reads":              {slices.Concat(free, calls(rwAsk(reader, final(1), 2))), rwYield(reader, final(1), 2)},
		"rw_yield of one that writes":             {calls(rwAsk(writer, proposal(0), 1)), rwYield(writer, proposal(3), 1)},
		"rw_yield states a ticket":                {queue, rwYield(writer, final(9), 1)},
		"rw_settle":                               {queue, rwSettle(writer)},
		"rw_beat":                                 {queue, rwBeat(reader, writer)},
		"rw_beat, its turn":                       {free, rwBeat(reader, reader2)},
		"rw_extend of one that reads":             {calls(rwTry(reader), rwTry(reader2)), rwExtend(reader, longer, true)},
		"rw_extend of one that writes":            {calls(rwTry(writer)), rwExtend(writer, longer, false)},
		"rw_extend of one that read since":        {queue, rwExtend(writer2, longer, true)},
		"rw_restore of one that reads":            {calls(rwTry(writer2), rwEnd(writer2, 0)), rwRestore(reader, 1<<52, true)},
		"rw_restore of one that reads, others do": {calls(rwTry(writer2), rwEnd(writer2, 0), rwTry(reader2)), rwRestore(reader, 1<<52, true)},
		"rw_restore, where it is":                 {calls(rwTry(writer)), rwRestore(writer, 1<<52, false)},
		"rw_repair of one that reads":             {calls(rwTry(reader2)), rwRepair(reader, true)},
		"rw_repair of one that writes":            {nil, rwRepair(writer, false)},
		"rw_keep of one that reads":               {calls(rwTry(reader), rwTry(reader2)), rwKeep(reader, time.Second)},
		"rw_keep of one that writes":              {calls(rwTry(writer)), rwKeep(writer, time.Second)},
		"rw_reserve":                              {calls(rwTry(writer)), rwReserve(writer, 1<<53)},
		"rw_reserve, others wait":                 {queue, rwReserve(writer2, 1<<53)},
		"rw_look":                                 {calls(rwTry(reader), rwAsk(writer, proposal(0), 1)), rwLook(reader)},
	}
}

// rwLate are the cases of the read-write lock for what comes late.
func rwLate() map[string]repeated {
	return map[string]repeated{
		"rw_acquire, to read, after the release":         {calls(rwTry(reader), rwEnd(reader, marked)), rwTry(reader)},
		"rw_acquire, to read, after the leave":           {calls(rwTry(writer), rwAsk(reader, proposal(0), 1), rwEnd(reader, marked)), rwAsk(reader, final(1), 2)},
		"rw_acquire, to write, after the release":        {calls(rwTry(writer), rwEnd(writer, marked)), rwTry(writer)},
		"rw_acquire, to write, when others read":         {calls(rwTry(writer), rwEnd(writer, marked), rwTry(reader2)), rwTry(writer)},
		"rw_acquire, after an extension":                 {calls(rwTry(reader), rwExtend(reader, longer, true)), rwTry(reader)},
		"rw_acquire, of an earlier round":                {calls(rwAsk(reader, proposal(0), 2)), rwAsk(reader, proposal(0), 1)},
		"rw_acquire, a proposal after the final one":     {calls(rwTry(writer2), rwAsk(reader, final(9), 2)), rwAsk(reader, proposal(8), 1)},
		"rw_release, when others read":                   {calls(rwTry(reader), rwEnd(reader, 0), rwTry(reader2)), rwEnd(reader, 0)},
		"rw_release, when another writes":                {calls(rwTry(writer), rwEnd(writer, 0), rwTry(writer2)), rwEnd(writer, 0)},
		"rw_release, when others wait":                   {calls(rwTry(writer), rwEnd(writer, 0), rwTry(writer2), rwAsk(reader, proposal(0), 1)), rwEnd(writer, 0)},
		"rw_yield, when a later round has it":            {calls(rwAsk(reader, proposal(0), 1), rwAsk(reader, proposal(0), 2)), rwYield(reader, final(1), 1)},
		"rw_yield, after the release":                    {calls(rwAsk(writer, proposal(0), 1), rwEnd(writer, 0)), rwYield(writer, final(1), 1)},
		"rw_yield, after an extension":                   {calls(rwAsk(reader, proposal(0), 1), rwExtend(reader, longer, true)), rwYield(reader, final(1), 1)},
		"rw_yield, a proposal for who waits":             {calls(rwTry(writer2), rwAsk(reader, proposal(0), 1)), rwYield(reader, proposal(9), 1)},
		"rw_settle, when it was granted":                 {calls(rwTry(writer), rwAsk(reader, proposal(0), 1)), rwSettle(writer)},
		"rw_beat, after the leave":                       {calls(rwTry(writer2), rwAsk(reader, proposal(0), 1), rwEnd(reader, 0)), rwBeat(reader)},
		"rw_extend, after the release":                   {calls(rwTry(reader), rwEnd(reader, 0)), rwExtend(reader, longer, true)},
		"rw_extend, when another writes":                 {calls(rwTry(reader), rwEnd(reader, 0), rwTry(writer2)), rwExtend(reader, longer, true)},
		"rw_extend, when others read":                    {calls(rwTry(reader), rwEnd(reader, 0), rwTry(reader2)), rwExtend(reader, longer, true)},
		"rw_extend, after a longer one":                  {calls(rwTry(reader), rwExtend(reader, longer, true)), rwExtend(reader, ttl, true)},
		"rw_extend, as one that writes, after it reads":  {calls(rwTry(writer), rwExtend(writer, longer, true)), rwExtend(writer, ttl, false)},
		"rw_restore, after the release":                  {calls(rwTry(reader), rwEnd(reader, marked)), rwRestore(reader, 1<<52, true)},
		"rw_restore, when another has written":           {calls(rwTry(reader), rwEnd(reader, 0), rwTry(writer2), rwEnd(writer2, 0)), rwRestore(reader, 1, true)},
		"rw_restore, when another writes":                {calls(rwTry(writer2)), rwRestore(reader, 1<<52, true)},
		"rw_restore of one that writes, when it is free": {calls(rwTry(writer), rwEnd(writer, 0)), rwRestore(writer, 1<<52, false)},
		"rw_restore of one that writes, when others do":  {calls(rwTry(reader)), rwRestore(writer, 1<<52, false)},
		"rw_repair, after the release":                   {calls(rwTry(reader), rwEnd(reader, marked)), rwRepair(reader, true)},
		"rw_repair of one that reads, another writes":    {calls(rwTry(writer2)), rwRepair(reader, true)},
		"rw_repair of one that writes, others read":      {calls(rwTry(reader2)), rwRepair(writer, false)},
		"rw_repair, where it reads by now":               {calls(rwTry(writer), rwExtend(writer, longer, true)), rwRepair(writer, false)},
		"rw_keep, after the release":                     {calls(rwTry(reader), rwEnd(reader, 0)), rwKeep(reader, time.Second)},
		"rw_keep, when another writes":                   {calls(rwTry(writer), rwEnd(writer, 0), rwTry(writer2)), rwKeep(writer, time.Second)},
		"rw_keep of one that reads, when another writes": {calls(rwTry(reader), rwEnd(reader, 0), rwTry(writer2)), rwKeep(reader, time.Second)},
		"rw_keep of one that reads, when another reads":  {calls(rwTry(reader), rwEnd(reader, 0), rwTry(reader2)), rwKeep(reader, time.Second)},
		"rw_keep, after one that is shorter":             {calls(rwTry(reader), rwKeep(reader, time.Second)), rwKeep(reader, 2*time.Second)},
		"rw_reserve, after the release":                  {calls(rwTry(writer), rwEnd(writer, 0)), rwReserve(writer, 1<<53)},
		"rw_reserve, when another has it":                {calls(rwTry(writer), rwEnd(writer, 0), rwTry(writer2)), rwReserve(writer, 1<<53)},
		"rw_reserve, when it reads by now":               {calls(rwTry(writer), rwExtend(writer, longer, true)), rwReserve(writer, 1<<53)},
		"rw_reserve, after a greater one":                {calls(rwTry(writer), rwReserve(writer, 1<<52)), rwReserve(writer, 1<<51)},
		"rw_extend, after a keep":                        {calls(rwTry(reader), rwKeep(reader, time.Second)), rwExtend(reader, longer, true)},
		"rw_acquire, after a keep that found nothing":    {calls(rwKeepVoid(writer)), rwTry(writer)},
		"rw_acquire, after a keep that voids it":         {calls(rwTry(reader), rwKeepVoid(reader)), rwTry(reader)},
		"rw_acquire, after a keep":                       {calls(rwTry(writer), rwKeep(writer, time.Second)), rwTry(writer)},
	}
}
