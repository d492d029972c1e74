package sqlite

import (
	"bytes"
	"testing"

	"loregate/internal/job"
	"loregate/internal/job/jobtest"
)

func TestDeliveries(t *testing.T) {
	jobtest.TestDeliveries(t, func(t *testing.T) job.Deliveries { return openNew(t) })
}

func TestJobs(t *testing.T) {
	jobtest.TestStore(t, func(t *testing.T) job.Store { return openNew(t) })
}

func TestSecretIsCreatedOnce(t *testing.T) {
	s := openNew(t)
	for _, fresh := range []string{"first", "second"} {
		if got, err := s.Secret(t.Context(), "refs", []byte(fresh)); err != nil || !bytes.Equal(got, []byte("first")) {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := s.Secret(t.Context(), "other", []byte("third")); err != nil || string(got) != "third" {
		t.Errorf("%q, %v", got, err)
	}
}
