package lua

import "strings"

// NameOf is the inverse of [NewKeys]: it returns the name of the lock that keeps key, if key exists
// only while the lock is held ([Keys.Lock]) or waited for ([Keys.Queue]). Other companion keys of a
// lock outlive both, and are no sign of them. "orders" and "{orders}" are one lock, and so are "a{b" and
// "{a{b}": the name is returned without these braces if no other brace closes in it. Otherwise it is
// returned as it stands in the key: "a}:{b" and "{a}:{b}" are one lock, too, but nobody would choose the first.
func NameOf(prefix, key string) (name string, ok bool) {
	key = strings.TrimSuffix(key, queueSuffix)
	name, ok = strings.CutPrefix(key, prefix+":")
	if !ok {
		return "", false
	}
	if tag, ok := strings.CutPrefix(name, "{"); ok {
		if tag, ok = strings.CutSuffix(tag, "}"); ok && !strings.Contains(tag, "}") && keeps(prefix, tag, key) {
			return tag, true
		}
	}
	return name, keeps(prefix, name, key)
}

// keeps tells whether key is the lock key of name.
func keeps(prefix, name, key string) bool {
	keys, err := NewKeys(prefix, name)
	return err == nil && keys.Lock == key
}
