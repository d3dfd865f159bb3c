package lua

import (
	"slices"
	"strconv"
	"strings"
)

// Slots are the numbers of permits as they stand on the nodes: in ascending order, with what lies
// between the first and the last of a run left out, as in "0-3 7". So two are equal if they are the same text.
type Slots string

// List is the numbers.
func (s Slots) List() []int {
	var all []int
	for run := range strings.FieldsSeq(string(s)) {
		from, to, many := strings.Cut(run, "-")
		first, err1 := strconv.Atoi(from)
		last, err2 := first, error(nil)
		if many {
			last, err2 = strconv.Atoi(to)
		}
		if err1 != nil || err2 != nil {
			return nil
		}
		for n := first; n <= last; n++ {
			all = append(all, n)
		}
	}
	return all
}

// SlotsOf is the Slots of these numbers, in any order.
func SlotsOf(numbers []int) Slots {
	all := slices.Sorted(slices.Values(numbers))
	var text strings.Builder
	for i := 0; i < len(all); i++ {
		from := i
		for i+1 < len(all) && all[i+1] == all[i]+1 {
			i++
		}
		if from > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(strconv.Itoa(all[from]))
		if i > from {
			text.WriteString("-" + strconv.Itoa(all[i]))
		}
	}
	return Slots(text.String())
}
