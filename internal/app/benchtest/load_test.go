package benchtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/cputest"
	"loregate/internal/wait"
)

// client is one connection that sends raw requests and reads answers. It works less than net/http,
// because client and server share the processors.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	body []byte
}

func dial(addr string) (*client, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn: c, in: bufio.NewReaderSize(c, 16<<10)}, nil
}

// do sends a request: its head, a Content-Length and its body. It returns the status and body of
// the answer; the body is valid until the next call.
func (c *client) do(head, body string) (int, []byte, error) {
	c.out = append(c.out[:0], head...)
	if body != "" {
		c.out = append(strconv.AppendInt(append(c.out, "Content-Length: "...), int64(len(body)), 10), "\r\n"...)
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, nil, err
	}
	return c.read()
}

func (c *client) read() (status int, body []byte, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 {
		return 0, nil, errors.New("no status line")
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length, chunked := 0, false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		if v, ok := header(line, "content-length:"); ok {
			if length, err = strconv.Atoi(string(v)); err != nil {
				return 0, nil, err
			}
		} else if _, ok := header(line, "transfer-encoding:"); ok {
			chunked = true
		}
	}
	c.body = c.body[:0]
	if !chunked {
		return status, c.body, c.more(length)
	}
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, nil, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err == nil {
			err = c.more(int(n))
		}
		if err == nil {
			_, err = c.in.Discard(2)
		}
		if err != nil || n == 0 {
			return status, c.body, err
		}
	}
}

func (c *client) more(n int) error {
	at := len(c.body)
	c.body = slices.Grow(c.body, n)[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func header(line []byte, name string) ([]byte, bool) {
	if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
		return bytes.TrimSpace(line[len(name):]), true
	}
	return nil, false
}

// head returns the head of a request.
func head(line, host string, headers ...string) string {
	return line + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(headers, "\r\n") + "\r\n"
}

// target is a call that any number of clients can repeat.
type target struct {
	addr string
	call func(c *client, n int64) error // the nth call
	next counter
}

type counter struct {
	mu sync.Mutex
	n  int64 // guarded by mu
}

func (c *counter) add() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

// outcome is the result of one round of load.
type outcome struct {
	calls int
	took  time.Duration
	cpu   time.Duration   // of the process, including the clients
	each  []time.Duration // sorted
}

func (o outcome) rate() float64 { return float64(o.calls) / o.took.Seconds() }

func (o outcome) at(percent int) time.Duration { return o.each[len(o.each)*percent/100] }

// closedLoop runs a number of clients, each of which sends its next call as soon as the last was
// answered.
func (t *target) closedLoop(b *testing.B, clients int, d time.Duration) outcome {
	return t.run(b, clients, func(began time.Time, _ int, call func() error) (each []time.Duration, err error) {
		for err == nil && time.Since(began) < d {
			start := time.Now()
			err = call()
			each = append(each, time.Since(start))
		}
		return each, err
	})
}

// openLoop calls at a fixed rate, whether earlier calls were answered or not. The time of a call
// starts when the call was due.
func (t *target) openLoop(b *testing.B, clients int, rate float64, d time.Duration) outcome {
	step := time.Duration(float64(time.Second) / rate)
	return t.run(b, clients, func(began time.Time, me int, call func() error) (each []time.Duration, err error) {
		for i := me; err == nil; i += clients {
			due := time.Duration(i) * step
			if due > d {
				break
			}
			wait.For(b.Context(), due-time.Since(began))
			err = call()
			each = append(each, time.Since(began)-due)
		}
		return each, err
	})
}

func (t *target) run(b *testing.B, clients int,
	loop func(began time.Time, me int, call func() error) ([]time.Duration, error)) outcome {
	b.Helper()
	open := make([]*client, clients)
	for i := range open {
		c, err := dial(t.addr)
		if err != nil {
			b.Fatal(err)
		}
		defer c.conn.Close()
		open[i] = c
		if i == 0 { // the first call, with its one-time setup, is not counted
			if err := t.call(c, t.next.add()); err != nil {
				b.Fatal(err)
			}
		}
	}
	runtime.GC()
	var o outcome
	var mu sync.Mutex
	var work sync.WaitGroup
	cpu, began := cputest.Used(), time.Now()
	for me, c := range open {
		work.Go(func() {
			each, err := loop(began, me, func() error { return t.call(c, t.next.add()) })
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			o.each = append(o.each, each...)
		})
	}
	work.Wait()
	o.took, o.cpu = time.Since(began), cputest.Used()-cpu
	o.calls = len(o.each)
	if b.Failed() || o.calls == 0 {
		b.FailNow()
	}
	slices.Sort(o.each)
	return o
}

// want returns a call that fails unless the request is answered with a status.
func want(status int, f func(n int64) (head, body string)) func(*client, int64) error {
	return func(c *client, n int64) error {
		head, body := f(n)
		got, answer, err := c.do(head, body)
		if err == nil && got != status {
			err = fmt.Errorf("status %d: %.300s", got, answer)
		}
		return err
	}
}

// median returns the median of a list.
func median[T int | float64 | time.Duration](list []T) T {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// medians collects the numbers of all rounds by unit.
type medians map[string][]float64

func (m medians) add(unit string, v float64) { m[unit] = append(m[unit], v) }

func (m medians) report(b *testing.B) {
	b.ReportMetric(0, "ns/op") // the time of a round means nothing
	for unit, list := range m {
		b.ReportMetric(median(list), unit)
	}
}
