package op_test

import (
	"context"
	"testing"

	"loregate/internal/access"
	"loregate/internal/op"
)

// stillWorld is a world whose answers stay current until it is touched.
type stillWorld struct{ touched int }

type stillBasis struct{ at int }

func (stillBasis) Record(ctx context.Context) context.Context { return ctx }
func (stillBasis) IsCacheable() bool                          { return true }

func (w *stillWorld) Begin() op.ReadSet { return stillBasis{w.touched} }
func (w *stillWorld) IsCurrent(b op.ReadSet, _ access.Level) bool {
	return b.(stillBasis).at == w.touched
}

// TestAnswerIsKeptFromTheSecondCall mixes several questions: an answer asked for once is not kept;
// an answer kept before a commit is kept again after one call.
func TestAnswerIsKeptFromTheSecondCall(t *testing.T) {
	t.Parallel()
	world, computed := &stillWorld{}, 0
	counted := spec("get_counted", access.Read, access.RoleUser)
	counted.Cacheable = true
	b := newBench(t, func(c *op.Config) {
		c.CacheBytes = 1 << 20
		c.WorldState = func(_ context.Context, _ access.WorldID, f func(op.WorldState)) error {
			f(world)
			return nil
		}
		c.Surfaces[0].Operations = append(c.Surfaces[0].Operations, op.Define(counted,
			func(_ context.Context, _ *op.Call, in longIn) (longOut, error) {
				computed++
				return longOut{"", in.Offset}, nil
			}))
	})
	for i, step := range []struct {
		input string
		role  access.Role
		touch bool
		fresh bool // it is computed
	}{
		{input: `{"offset":1}`, role: access.RoleUser, fresh: true},
		{input: `{"offset":2}`, role: access.RoleUser, fresh: true},
		{input: `{"offset":1}`, role: access.RoleUser, fresh: true},
		{input: `{"offset":1}`, role: access.RoleUser},
		{input: `{"offset":1}`, role: access.RoleGM, fresh: true}, // another question
		{input: `{"offset":1}`, role: access.RoleUser, touch: true, fresh: true},
		{input: `{"offset":1}`, role: access.RoleUser},
		{input: `{"offset":2}`, role: access.RoleUser, fresh: true},
		{input: `{"offset":2}`, role: access.RoleUser},
	} {
		if step.touch {
			world.touched++
		}
		before := computed
		if _, err := b.call(as(step.role), "get_counted", step.input); err != nil {
			t.Fatal(err)
		}
		if fresh := computed > before; fresh != step.fresh {
			t.Errorf("call %d: computed is %v, want %v", i+1, fresh, step.fresh)
		}
	}
}
