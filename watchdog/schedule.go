package watchdog

// schedule is a heap of wards, the earliest date first.
type schedule []*Ward

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due() < s[j].due() }

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i+1, j+1
}

func (s *schedule) Push(x any) {
	ward := x.(*Ward)
	*s = append(*s, ward)
	ward.index = len(*s)
}

func (s *schedule) Pop() any {
	old := *s
	last := len(old) - 1
	ward := old[last]
	old[last] = nil
	*s = old[:last]
	ward.index = 0
	return ward
}
