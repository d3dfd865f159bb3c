// Package otelholdfast has the locks of a client recorded by OpenTelemetry: durations, waiters,
// losses and what nodes answer as metrics, and acquisitions as spans.
//
//	observer, err := otelholdfast.New()
//	if err != nil { return err }
//	locks, err := lock.NewClient(nodes, lock.WithObserver(observer))
//
// The page docs/observing.md of the project lists every instrument, its attributes, and what to
// alert on. Package promholdfast is the same for Prometheus without OpenTelemetry.
package otelholdfast
