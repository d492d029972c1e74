package jobtest

import (
	"testing"

	"loregate/internal/job"
)

func TestMemory(t *testing.T) {
	TestStore(t, func(*testing.T) job.Store { return &Memory{} })
}
