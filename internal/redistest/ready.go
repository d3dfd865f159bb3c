package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// Generous, since a whole suite may start its servers at once on two cores.
const readyWithin = 20 * time.Second

var (
	errPortTaken = errors.New("redistest: port taken")
	errExited    = errors.New("redistest: the server exited at once")
	errNotReady  = errors.New("redistest: the server is not ready")
)

// waitReady waits until the process itself answers on the port. An answer alone
// would not do: between the look for a free port and the bind, another test's
// server may have taken it.
func waitReady(p *process, port int, logPath string) error {
	var last error
	ok := poll(readyWithin, func() bool {
		if p.exited() {
			return true
		}
		last = askReady(p.pid(), port)
		return last == nil
	})
	switch {
	case p.exited():
		if log, _ := os.ReadFile(logPath); strings.Contains(string(log), "Address already in use") {
			return errPortTaken
		}
		return errExited
	case !ok:
		return fmt.Errorf("%w within %v: %w", errNotReady, readyWithin, last)
	}
	return nil
}

func askReady(pid, port int) error {
	conn, err := net.DialTimeout("tcp", hostPort(port), time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("PING\r\nINFO server\r\n")); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	pong, err := readFrame(r)
	if err != nil {
		return err
	}
	if pong.text != "PONG" {
		return errors.New(pong.text) // such as LOADING
	}
	info, err := readFrame(r)
	if err != nil {
		return err
	}
	if got := infoField(info.text, "process_id"); got != fmt.Sprint(pid) {
		return fmt.Errorf("process %s answers instead of %d", got, pid)
	}
	return nil
}

// infoField picks a field out of the text of an INFO reply; "" when it is absent.
func infoField(info, field string) string {
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == field {
			return value
		}
	}
	return ""
}
