// Package otelholdfast records the locks of a client with OpenTelemetry: durations, waiters, losses
// and the nodes' answers as metrics, and acquisitions as spans.
//
//	observer, err := otelholdfast.New()
//	if err != nil { return err }
//	locks, err := lock.NewClient(nodes, lock.WithObserver(observer))
//
// The project's page docs/observing.md lists every instrument and its attributes, and suggests
// alerts. Package promholdfast does the same for Prometheus without OpenTelemetry.
package otelholdfast
