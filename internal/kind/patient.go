package kind

import "context"

type patientKey struct{}

// Patient returns a context under which a Lock waits even for nodes that refuse its commands from the start.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

// IsPatient reports whether ctx comes from Patient.
func IsPatient(ctx context.Context) bool { return ctx.Value(patientKey{}) != nil }
