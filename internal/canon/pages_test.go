package canon

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// numbers is a listing of the numbers below n. It notes the offsets that it is asked for, and fails
// at offset failAt unless that is 0.
type numbers struct {
	n, failAt int
	asked     []int
}

var errListing = errors.New("the disk is gone")

func (l *numbers) list(p Page) (rows []int, _ Total, _ error) {
	l.asked = append(l.asked, p.Offset)
	if l.failAt > 0 && p.Offset == l.failAt {
		return nil, Total{}, errListing
	}
	for i := p.Offset; i < min(p.Offset+p.Limit, l.n); i++ {
		rows = append(rows, i)
	}
	return rows, Total{}, nil
}

// TestPages reads listings in pages of two rows, then four, then eight.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		listing numbers
		stop    int // rows after which the loop breaks; 0 means never
		want    []int
		asked   []int
		err     error
	}{
		{"nothing", numbers{n: 0}, 0, nil, []int{0}, nil},
		{"less than a page", numbers{n: 1}, 0, []int{0}, []int{0}, nil},
		{"a last page in part", numbers{n: 7}, 0, []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 2, 6}, nil},
		{"a full last page", numbers{n: 6}, 0, []int{0, 1, 2, 3, 4, 5}, []int{0, 2, 6}, nil},
		{"a break in a page", numbers{n: 9}, 3, []int{0, 1, 2}, []int{0, 2}, nil},
		{"a break at the end of a page", numbers{n: 9}, 2, []int{0, 1}, []int{0}, nil},
		{"an error in the middle", numbers{n: 9, failAt: 6}, 0, []int{0, 1, 2, 3, 4, 5}, []int{0, 2, 6}, errListing},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			var failed error
			for n, err := range pages(t.Context(), 2, c.listing.list) {
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				if got = append(got, n); len(got) == c.stop {
					break
				}
			}
			if !slices.Equal(got, c.want) || !errors.Is(failed, c.err) {
				t.Errorf("got %v, %v; want %v, %v", got, failed, c.want, c.err)
			}
			if !slices.Equal(c.listing.asked, c.asked) {
				t.Errorf("read the pages at %v, want %v", c.listing.asked, c.asked)
			}
		})
	}
}

func TestPagesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	listing := numbers{n: 9}
	var got []int
	var failed error
	for n, err := range pages(ctx, 2, listing.list) {
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		got = append(got, n)
		cancel()
	}
	if !slices.Equal(got, []int{0, 1}) || !errors.Is(failed, context.Canceled) || len(listing.asked) != 1 {
		t.Errorf("got %v, %v after reading %v", got, failed, listing.asked)
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	whole, broken := numbers{n: 5}, numbers{n: 9, failAt: 2}
	if all, err := Collect(pages(t.Context(), 2, whole.list)); err != nil || len(all) != 5 {
		t.Error(all, err)
	}
	if all, err := Collect(pages(t.Context(), 2, broken.list)); !errors.Is(err, errListing) || all != nil {
		t.Error(all, err)
	}
	for _, c := range []struct {
		most, got int
		more      bool
	}{{0, 0, true}, {3, 3, true}, {4, 4, true}, {5, 5, false}, {6, 5, false}} {
		first, more, err := CollectUpTo(pages(t.Context(), 2, whole.list), c.most)
		if err != nil || len(first) != c.got || more != c.more {
			t.Errorf("up to %d: %v, more %t, %v", c.most, first, more, err)
		}
	}
	if first, _, err := CollectUpTo(pages(t.Context(), 2, broken.list), 5); !errors.Is(err, errListing) || first != nil {
		t.Error(first, err)
	}
}
