package body_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/body"
	"loregate/internal/fault"
)

func newIntake(t *testing.T, c body.Config) *body.Intake {
	t.Helper()
	in, err := body.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// want fails the test if a request of the intake still holds something.
func wantNothingHeld(t *testing.T, in *body.Intake, folder string) {
	t.Helper()
	if in.InMemory() != 0 || in.OnDisk() != 0 {
		t.Errorf("%d bytes are counted in memory and %d on disk after all requests", in.InMemory(), in.OnDisk())
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) > 0 {
		t.Errorf("the spool has %v, %v", list, err)
	}
}

// halfSent is a body of which a part arrives, and then nothing until it is ended.
type halfSent struct {
	part io.Reader
	end  chan struct{}
}

func (h *halfSent) Read(p []byte) (int, error) {
	if n, err := h.part.Read(p); err == nil {
		return n, nil
	}
	<-h.end
	return 0, io.ErrUnexpectedEOF
}

// Fifty half-sent bodies of one caller hold that caller's share, and no more; the others are told to wait, while
// another caller is served. Afterwards nothing is held.
func TestHalfSentBodiesHoldAShare(t *testing.T) {
	const each = 1 << 20
	for name, read := range map[string]func(h *body.Hold, s body.Source) error{
		"memory": func(h *body.Hold, s body.Source) error {
			_, err := h.ReadAll(context.Background(), s)
			return err
		},
		"disk": func(h *body.Hold, s body.Source) error {
			_, err := h.Spool(context.Background(), s)
			return err
		},
	} {
		for _, size := range []int64{each, -1} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					folder := t.TempDir()
					in := newIntake(t, body.Config{Folder: folder, Memory: 16 << 20, Disk: 16 << 20})
					end := make(chan struct{})
					var all sync.WaitGroup
					var mu sync.Mutex
					refused := 0
					for range 50 {
						all.Go(func() {
							h := in.NewHold("ada", "harbour")
							defer h.Release()
							err := read(h, body.Source{Reader: &halfSent{strings.NewReader(strings.Repeat("x", each/2)), end}, Size: size,
								Limit: 4 * each})
							mu.Lock()
							defer mu.Unlock()
							if errors.Is(err, fault.RateLimited) {
								refused++
							}
						})
					}
					synctest.Wait()
					if held := in.InMemory() + in.OnDisk(); held > 4<<20 {
						t.Errorf("one caller holds %d bytes of a share of 4 MiB", held)
					}
					other := in.NewHold("bea", "harbour")
					if err := read(other, body.Source{Reader: bytes.NewReader(make([]byte, each)), Size: each,
						Limit: each}); err != nil {
						t.Errorf("another caller: %v", err)
					}
					other.Release()
					time.Sleep(5 * time.Second) // in the bubble
					close(end)
					all.Wait()
					if refused < 25 {
						t.Errorf("%d of 50 were told to wait", refused)
					}
					wantNothingHeld(t, in, folder)
				})
			})
		}
	}
}

// A request that needs more than its caller's share, or the whole budget, gets it while it is alone.
func TestLargestRequestIsPossible(t *testing.T) {
	in := newIntake(t, body.Config{Memory: 1 << 20, Wait: time.Nanosecond})
	ctx, small, large := t.Context(), in.NewHold("ada", ""), in.NewHold("bea", "")
	if err := small.Reserve(ctx, 1000); err != nil {
		t.Fatal(err)
	}
	if err := large.Reserve(ctx, 2<<20); !errors.Is(err, fault.Unavailable) {
		t.Errorf("beside another: %v", err)
	}
	small.Release()
	if err := large.Reserve(ctx, 2<<20); err != nil {
		t.Errorf("alone: %v", err)
	}
	if err := small.Reserve(ctx, 1); err != nil {
		t.Errorf("a released request counts nothing: %v", err)
	}
	large.Release()
	if in.InMemory() != 0 {
		t.Errorf("%d bytes are held", in.InMemory())
	}
}

// Requests that wait for the whole are served in their order, also a large one among many small ones.
func TestLargeRequestIsNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newIntake(t, body.Config{Memory: 1 << 20})
		first := in.NewHold("ada", "")
		if err := first.Reserve(t.Context(), 1<<18); err != nil {
			t.Fatal(err)
		}
		var order []string
		var all sync.WaitGroup
		wait := func(caller string, bytes int64) {
			all.Go(func() {
				h := in.NewHold(caller, "")
				if err := h.Reserve(t.Context(), bytes); err != nil {
					t.Errorf("%s: %v", caller, err)
				}
				order = append(order, caller)
				h.Release()
			})
			synctest.Wait()
		}
		wait("large", 1<<20)
		wait("small", 1<<10)
		first.Release()
		all.Wait()
		if got := strings.Join(order, " "); got != "large small" {
			t.Error(got)
		}
	})
}

// wire is a connection of a request, with deadlines.
type wire struct {
	http.ResponseWriter
	net.Conn
}

func (w wire) Write(p []byte) (int, error) { return w.Conn.Write(p) }

// Whole files are loaded two at a time, and one at a time for one caller.
func TestFilesAreLoadedInTurn(t *testing.T) {
	in := newIntake(t, body.Config{Wait: time.Nanosecond})
	var held []*body.Hold
	for _, row := range []struct {
		caller string
		want   error
	}{{"ada", nil}, {"ada", fault.RateLimited}, {"bea", nil}, {"cyd", fault.Unavailable}} {
		h := in.NewHold(row.caller, "")
		held = append(held, h)
		if err := h.BeginLoad(t.Context()); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.caller, err)
		}
	}
	held[0].ReleaseMemory()
	if err := held[3].BeginLoad(t.Context()); err != nil {
		t.Errorf("after another one is done: %v", err)
	}
}

// A body that comes below the minimum rate is ended after one window, one above it is read, and none takes longer than
// its time.
func TestSlowBodiesAreEnded(t *testing.T) {
	for _, row := range []struct {
		name    string
		second  int // bytes that come in each second
		seconds int
		want    string
		after   time.Duration
	}{
		{"stalled", 0, 0, "too slowly", 10 * time.Second},
		{"trickling", 100, 60, "too slowly", 10 * time.Second},
		{"slow", 5 << 10, 20, "", 20 * time.Second},
		{"endless", 5 << 10, 60, "in time", 30 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := newIntake(t, body.Config{})
				server, client := net.Pipe()
				var sender sync.WaitGroup
				sender.Go(func() {
					for range row.seconds {
						time.Sleep(time.Second) // in the bubble
						if _, err := client.Write(make([]byte, row.second)); err != nil {
							return
						}
					}
					if row.want == "" {
						_ = client.Close()
					}
				})
				began := time.Now()
				r := httptest.NewRequest(http.MethodPost, "/", nil)
				r.Body = server
				h := in.NewHold("ada", "")
				_, err := h.ReadAll(t.Context(), body.Source{Reader: in.ReadRequest(wire{Conn: server}, r, 30*time.Second),
					Size: -1, Limit: 4 << 20})
				took := time.Since(began)
				if row.want == "" && err != nil || row.want != "" && (!errors.Is(err, fault.Invalid) ||
					!strings.Contains(err.Error(), row.want)) {
					t.Error(err)
				}
				if took < row.after || took > row.after+time.Second {
					t.Errorf("after %s, not %s", took, row.after)
				}
				_, _ = client.Close(), server.Close()
				sender.Wait()
			})
		})
	}
}

// A request whose body has come goes on for as long as its handler takes, also if the handler reads beyond the end, and
// so do the next ones of its connection.
func TestReadBodiesEndNoRequest(t *testing.T) {
	const window = 50 * time.Millisecond
	in := newIntake(t, body.Config{Window: window})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := in.ReadRequest(w, r, time.Minute)
		for range 2 {
			if _, err := io.Copy(io.Discard, b); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * window)
		}
		time.Sleep(2 * window)
		if r.Context().Err() != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	for range 2 {
		res, err := server.Client().Post(server.URL, "text/plain", strings.NewReader(strings.Repeat("x", 100_000)))
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != http.StatusOK {
			t.Errorf("status %d: the request was ended", res.StatusCode)
		}
	}
}

// An answer that its client does not read is ended after one window.
func TestUnreadAnswersAreEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newIntake(t, body.Config{})
		server, client := net.Pipe()
		defer client.Close()
		began := time.Now()
		n, err := in.PaceAnswer(wire{Conn: server}, time.Minute).Write(make([]byte, 1<<20))
		if took := time.Since(began); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || took != 10*time.Second {
			t.Errorf("%d bytes, %v, after %s", n, err, took)
		}
	})
}

// Answers wait in memory while there is room for them, and on disk otherwise.
func TestAnswersGoToDisk(t *testing.T) {
	folder := t.TempDir()
	in := newIntake(t, body.Config{Folder: folder, Memory: 4 << 20, Wait: time.Nanosecond})
	var held []*body.Hold
	for range 100 {
		h := in.NewHold("ada", "")
		f, err := h.KeepAnswer(t.Context(), bytes.Repeat([]byte("x"), 100<<10))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f.Open()); err != nil || len(b) != 100<<10 {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		held = append(held, h)
	}
	if in.InMemory() > 512<<10 || in.OnDisk() < 9<<20 {
		t.Errorf("%d bytes are in memory, %d on disk", in.InMemory(), in.OnDisk())
	}
	for _, h := range held {
		h.Release()
	}
	wantNothingHeld(t, in, folder)
}

// An announced length is only a promise: memory is used for the bytes that arrive.
func TestAnnouncedLengthTakesNoMemory(t *testing.T) {
	in := newIntake(t, body.Config{})
	h := in.NewHold("ada", "")
	defer h.Release()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := h.ReadAll(t.Context(), body.Source{Reader: strings.NewReader("{"), Size: 4 << 20, Limit: 4 << 20})
	if err != nil || string(b) != "{" {
		t.Fatalf("%q, %v", b, err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("one byte that came took room for %d", took)
	}
}

// A small body costs one buffer.
func TestSmallBodiesAreCheap(t *testing.T) {
	in := newIntake(t, body.Config{})
	text := bytes.Repeat([]byte("x"), 1000)
	r := bytes.NewReader(nil)
	allocs := testing.AllocsPerRun(100, func() {
		r.Reset(text)
		h := in.NewHold("ada", "harbour")
		if _, err := h.ReadAll(context.Background(), body.Source{Reader: r, Size: 1000, Limit: 4 << 20}); err != nil {
			t.Fatal(err)
		}
		h.Release()
	})
	if allocs > 2 {
		t.Errorf("%v allocations", allocs)
	}
}

// Files that a process left behind are removed at the start, and no others.
func TestSpoolIsEmptiedAtTheStart(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"body-123", "README"} {
		if err := os.WriteFile(folder+"/"+name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newIntake(t, body.Config{Folder: folder})
	list, err := os.ReadDir(folder)
	if err != nil || len(list) != 1 || list[0].Name() != "README" {
		t.Errorf("%v, %v", list, err)
	}
}

// The header of a part of a form, and its text fields, take little memory however long they are.
func TestFormsAreBounded(t *testing.T) {
	for name, form := range map[string]string{
		"a header": "--b\r\nContent-Disposition: form-data; name=\"" + strings.Repeat("x", 1<<20),
		"a field":  "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + strings.Repeat("x", 1<<20),
	} {
		h := newIntake(t, body.Config{}).NewHold("ada", "")
		source := strings.NewReader(form)
		f := h.NewForm(source, "b")
		part, err := f.Next()
		if err == nil {
			_, err = f.Text(t.Context(), part)
		}
		if _, known := errors.AsType[*fault.Error](err); !known || source.Len() < 900<<10 {
			t.Errorf("%s: %v, with %d bytes unread", name, err, source.Len())
		}
	}
}
