package optest

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// IDs gives ids that rise and are the same in every run. The zero value begins at 1.
type IDs struct{ last atomic.Uint64 }

// Next is the next id.
func (i *IDs) Next() uuid.UUID {
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[8:], i.last.Add(1))
	u[6], u[8] = 0x70, 0x80
	return u
}

// Last is the number of the id given last.
func (i *IDs) Last() uint64 { return i.last.Load() }

// After has the next id follow a number.
func (i *IDs) After(n uint64) { i.last.Store(n) }

// SoleWorld is op.Worlds with one world in it, which is called main.
type SoleWorld access.WorldID

// Resolve finds main.
func (w SoleWorld) Resolve(_ context.Context, _ access.Caller, name string) (access.WorldID, error) {
	if name == "main" {
		return access.WorldID(w), nil
	}
	return access.WorldID{}, fault.New(fault.NotFound, "no such world")
}

// Names is main alone.
func (w SoleWorld) Names(context.Context, access.Caller) ([]string, error) {
	return []string{"main"}, nil
}
