package semaphore

import (
	"encoding/json"
	"time"
)

// MarshalJSON implements [json.Marshaler].
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Permits int         `json:"permits"`
		InUse   int         `json:"inUse"`
		Slots   []Slot      `json:"slots,omitempty"`
		Queue   []Wait      `json:"queue,omitempty"`
		Token   int64       `json:"token,omitempty"`
		Nodes   []NodeState `json:"nodes"`
	}{s.Permits, s.InUse, s.Slots, s.Queue, s.Token, s.Nodes})
}

// MarshalJSON implements [json.Marshaler].
func (s Slot) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Number  int    `json:"number"`
		Holder  string `json:"holder"`
		Label   string `json:"label,omitempty"`
		Note    string `json:"note,omitempty"`
		HeldFor string `json:"heldFor,omitempty"`
		TTL     string `json:"ttl,omitempty"`
		Token   int64  `json:"token,omitempty"`
	}{s.Number, s.Holder, s.Label, s.Note, known(s.HeldFor), known(s.TTL), s.Token})
}

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Hold    string `json:"hold"`
		Permits int    `json:"permits"`
		Waited  string `json:"waited"`
	}{w.Hold, w.Permits, w.Waited.String()})
}

// MarshalJSON implements [json.Marshaler].
func (n NodeState) MarshalJSON() ([]byte, error) {
	problem := ""
	if n.Err != nil {
		problem = n.Err.Error()
	}
	return json.Marshal(struct {
		Address   string `json:"address"`
		Reachable bool   `json:"reachable"`
		Slots     []Slot `json:"slots,omitempty"`
		Queue     []Wait `json:"queue,omitempty"`
		Token     int64  `json:"token,omitempty"`
		Other     string `json:"other,omitempty"`
		Err       string `json:"err,omitempty"`
	}{n.Address, n.Reachable, n.Slots, n.Queue, n.Token, n.Other, problem})
}

// known is d in words; "" if it is not known.
func known(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
