package blender

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"loregate/internal/sandbox"
)

//go:embed driver.py
var driverScript []byte

//go:embed convert.py
var convertScript []byte

//go:embed render.py
var renderScript []byte

// The errors of a session that ended.
var (
	errDied   = errors.New("blender: the session ended")
	errKilled = errors.New("blender: the session did not stop in time and was ended")
)

// opError is the error of an operation that Blender refused or that failed.
type opError struct {
	At   int    // index of the operation in the request
	Code string // REFUSED, FAILED, CANCELLED
	Text string
}

func (e *opError) Error() string {
	return fmt.Sprintf("blender: operation %d: %s: %s", e.At, e.Code, e.Text)
}

// Timeouts. A start takes 0.5 to 1.2 s on an idle machine; a cancelled request stops within
// milliseconds unless it is inside compiled code.
const (
	startWait  = 60 * time.Second
	cancelWait = time.Second
)

// session is a running Blender. It handles one request at a time.
type session struct {
	version string
	conn    net.Conn
	process *os.Process
	replies chan reply
	ended   chan struct{} // closed when the process has ended
	output  *tail
	mu      sync.Mutex // held during a request; guards next
	next    int
}

type reply struct {
	ID      int               `json:"id"`
	OK      bool              `json:"ok"`
	Results []json.RawMessage `json:"results"`
	At      int               `json:"at"`
	Code    string            `json:"code"`
	Error   string            `json:"error"`
}

type hello struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// startSession starts a session that sees only a folder.
func (a *Adapter) startSession(ctx context.Context, binary string, folder *sandbox.Folder) (*session, error) {
	if err := folder.Write("driver.py", driverScript); err != nil {
		return nil, fmt.Errorf("blender: %w", err)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("blender: %w", err)
	}
	defer theirs.Close()
	s := &session{conn: ours, replies: make(chan reply, 1), ended: make(chan struct{}), output: &tail{}, next: 1}
	// On one thread: with several, normals of smooth surfaces are summed in the order in which the
	// threads finish, and their last bits differ from run to run.
	cmd := exec.Command(binary, "--background", "--factory-startup", "--threads", "1", "--python-exit-code", "9",
		"--python", folder.Path("driver.py"))
	cmd.Env, cmd.Stdout, cmd.Stderr = steadyEnv, s.output, s.output
	cmd.ExtraFiles = []*os.File{theirs}
	if err = a.config.Sandbox.Confine(cmd, folder.Path(".")); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("blender: %w", err), ours.Close())
	}
	s.process = cmd.Process
	go func() {
		_ = cmd.Wait() // pending requests report the end
		close(s.ended)
	}()
	go s.readReplies()
	return s, s.awaitHello(ctx)
}

// steadyEnv is the part of the environment that only Blender has. The hash seed fixes the order of Python's sets,
// which the FBX exporter writes out.
var steadyEnv = []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"}

// maxReply bounds a line from Blender. The list of a scene's objects takes 200 bytes for each.
const maxReply = 64 << 20

// readReplies reads replies from the socket until it closes.
func (s *session) readReplies() {
	defer close(s.replies)
	lines := bufio.NewScanner(s.conn)
	lines.Buffer(make([]byte, 1<<16), maxReply)
	for lines.Scan() {
		var r reply
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			return
		}
		s.replies <- r
	}
}

func (s *session) awaitHello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	r, err := s.awaitReply(ctx, 0)
	if err != nil {
		s.close()
		return fmt.Errorf("%w; it said: %s", err, s.output)
	}
	var h hello
	if len(r.Results) == 1 {
		err = json.Unmarshal(r.Results[0], &h)
	}
	s.version = h.Version
	return err
}

// awaitReply waits for the reply to a request.
func (s *session) awaitReply(ctx context.Context, id int) (reply, error) {
	for {
		select {
		case r, ok := <-s.replies:
			if !ok {
				return reply{}, errDied
			}
			if r.ID == id {
				return r, nil
			}
		case <-ctx.Done():
			return reply{}, ctx.Err()
		}
	}
}

// doOps carries out operations in order, up to the first that fails, and returns their results. If
// ctx ends it cancels the request: between operations at once, within an operation by an exception,
// and if neither works it ends the session and returns errKilled.
func (s *session) doOps(ctx context.Context, ops []json.RawMessage) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := s.next
	s.next++
	if _, err := s.conn.Write(encodeRequest(id, ops)); err != nil {
		return nil, errDied
	}
	r, err := s.awaitReply(ctx, id)
	if err != nil && ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), s.cancelRequest(id))
	}
	if err != nil {
		return nil, err
	}
	if !r.OK {
		return r.Results, &opError{r.At, r.Code, r.Error}
	}
	return r.Results, nil
}

// cancelRequest cancels a request, and ends the session if the request does not stop within
// cancelWait.
func (s *session) cancelRequest(id int) error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelWait)
	defer cancel()
	if s.writeJSON(map[string]int{"cancel": id}) == nil {
		if _, err := s.awaitReply(ctx, id); err == nil {
			return nil
		}
	}
	s.close()
	return errKilled
}

// encodeRequest encodes a request as one line. The operations are single-line JSON already;
// encoding them again would process every byte of their meshes.
func encodeRequest(id int, ops []json.RawMessage) []byte {
	size := 64
	for _, o := range ops {
		size += len(o) + 1
	}
	b := append(make([]byte, 0, size), `{"id":`...)
	b = append(strconv.AppendInt(b, int64(id), 10), `,"ops":[`...)
	for i, o := range ops {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o...)
	}
	return append(b, "]}\n"...)
}

func (s *session) writeJSON(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = s.conn.Write(append(b, '\n'))
	}
	return err
}

// isAlive reports whether the process is running.
func (s *session) isAlive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// close ends the process and waits for it.
func (s *session) close() {
	_ = s.conn.Close()
	_ = s.process.Kill() // it may have ended already
	<-s.ended
}

// tail keeps the end of a program's output for the log.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(bytes.TrimSpace(t.b), nil))
}
