package optest

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// IDs generates ascending ids that are the same in every run. The zero value begins at 1.
type IDs struct{ last atomic.Uint64 }

// Next returns the next id.
func (i *IDs) Next() uuid.UUID {
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[8:], i.last.Add(1))
	u[6], u[8] = 0x70, 0x80
	return u
}

// Last returns the number of the latest id.
func (i *IDs) Last() uint64 { return i.last.Load() }

// After makes the next id follow the number n.
func (i *IDs) After(n uint64) { i.last.Store(n) }

// SoleWorld is an op.Worlds with a single world, named main.
type SoleWorld access.WorldID

// Resolve finds main.
func (w SoleWorld) Resolve(_ context.Context, _ access.Caller, name string) (access.WorldID, error) {
	if name == "main" {
		return access.WorldID(w), nil
	}
	return access.WorldID{}, fault.New(fault.NotFound, "no such world")
}

// Names returns main alone.
func (w SoleWorld) Names(context.Context, access.Caller) ([]string, error) {
	return []string{"main"}, nil
}
