package mcpd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
)

// maxLine bounds a message on stdio: an attachment of 25 MiB in base64, and room.
const maxLine = 40 << 20

// ServeStdio serves one caller on a pair of streams, one message a line, until in or ctx ends, or
// the process gets a signal to stop. surfaces are those to show, or "all"; none means the default set. It writes only
// messages to out. Calls that were read before in ended are still answered. Ending in any of these
// ways is not an error.
func (s *Server) ServeStdio(ctx context.Context, c access.Caller, surfaces []string, in io.Reader,
	out io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return s.ServePipe(ctx, c, surfaces, in, out)
}

// ServePipe is ServeStdio for a client in this process; signals do not end it.
func (s *Server) ServePipe(ctx context.Context, c access.Caller, surfaces []string, in io.Reader, out io.Writer) error {
	sc, err := s.setOf(surfaces)
	if err != nil {
		return err
	}
	local := &visit{caller: c, scope: sc, home: new(home)}
	defer local.home.close()
	ctx, cancel := context.WithCancel(ctx)
	line := newLine(ctx, s, local, in, out)
	defer func() { _ = line.Close(); cancel(); line.work.Wait() }()
	ss, err := s.sdkServer(local).Connect(ctx, line, nil)
	if err != nil {
		return fmt.Errorf("mcpd: stdio: %w", err)
	}
	err = ss.Wait()
	gone := errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) // the client has closed its end
	if err != nil && !gone && ctx.Err() == nil {
		return fmt.Errorf("mcpd: stdio: %w", err)
	}
	return nil
}

// line is a connection with one JSON message a line. A line that is not a message is answered with
// an error and skipped: one mistake of a client does not end its session.
type line struct {
	ctx   context.Context
	s     *Server
	local *visit
	read  chan []byte    // one line each; closed at the end of the input
	calls chan func()    // to an idle goroutine that has answered a call directly before
	work  sync.WaitGroup // of the goroutines that answer calls directly

	mu     sync.Mutex // guards the fields below, and writing
	out    io.Writer
	open   map[any]bool // ids of unanswered calls; true for those that are never answered
	asked  map[any]bool // ids of our own unanswered requests
	broken error        // error of writing an answer
	drain  chan struct{}
	ended  bool // nothing more to read: drain closes when no call is open
	closed chan struct{}
	once   sync.Once
}

func newLine(ctx context.Context, s *Server, local *visit, in io.Reader, out io.Writer) *line {
	l := &line{ctx: ctx, s: s, local: local, read: make(chan []byte),
		calls: make(chan func()), out: out, open: map[any]bool{}, asked: map[any]bool{}, drain: make(chan struct{}),
		closed: make(chan struct{})}
	// A read of a terminal or pipe cannot be interrupted: this goroutine may outlive the
	// connection, until the process ends.
	go l.scanLines(bufio.NewReaderSize(in, 64<<10))
	return l
}

// Connect makes the line its own transport.
func (l *line) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID is empty: there is only one session.
func (l *line) SessionID() string { return "" }

func (l *line) scanLines(r *bufio.Reader) {
	defer close(l.read)
	for {
		text, err := readLine(r)
		if text = bytes.TrimSpace(text); len(text) > 0 {
			select {
			case l.read <- text:
			case <-l.closed:
				return
			}
		}
		if errors.Is(err, errLongLine) {
			l.refuseLine(jsonrpc.CodeParseError, err.Error())
			continue
		}
		if err != nil {
			return
		}
	}
}

var errLongLine = fmt.Errorf("a message can have at most %d bytes", maxLine)

// readLine reads up to the next newline. A line that is too long is skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			if err == nil {
				err = errLongLine
			}
			return nil, err
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// Read returns the next message.
func (l *line) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, io.EOF
		case <-l.ctx.Done():
			return nil, io.EOF
		case <-l.closed:
			return nil, l.endError()
		case text, ok := <-l.read:
			if !ok {
				return nil, l.waitForAnswers()
			}
			if m := l.readMessage(text); m != nil {
				return m, nil
			}
		}
	}
}

// endError returns the reason why a closed line reads nothing more.
func (l *line) endError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cmp.Or(l.broken, io.EOF)
}

// waitForAnswers waits until the calls that were read are answered, and returns io.EOF.
func (l *line) waitForAnswers() error {
	l.mu.Lock()
	l.ended = true
	l.closeIfDrained()
	l.mu.Unlock()
	select {
	case <-l.drain:
	case <-l.ctx.Done():
	case <-l.closed:
	}
	return io.EOF
}

// closeIfDrained closes drain when no more calls will be answered: calls that wait for an answer of
// the client wait in vain once its input has ended. l.mu is held.
func (l *line) closeIfDrained() {
	if !l.ended {
		return
	}
	going := 0
	for _, waits := range l.open {
		if !waits {
			going++
		}
	}
	if going > len(l.asked) {
		return
	}
	select {
	case <-l.drain:
	default:
		close(l.drain)
	}
}

// readMessage decodes a message; it returns nil if the line has been answered already.
func (l *line) readMessage(text []byte) jsonrpc.Message {
	if err := checkJSON(text); err != nil {
		l.refuseLine(jsonrpc.CodeParseError, "parse error: "+err.Error())
		return nil
	}
	if text[0] == '[' {
		l.refuseLine(jsonrpc.CodeInvalidRequest, "batches are not supported; send one message per line")
		return nil
	}
	if l.answerDirectly(text) {
		return nil
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		l.refuseLine(jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message")
		return nil
	}
	switch r := m.(type) {
	case *jsonrpc.Request:
		if r.IsCall() && !l.beginCall(r.ID.Raw(), r.Method == "subscriptions/listen") {
			return nil
		}
	case *jsonrpc.Response:
		l.mu.Lock()
		delete(l.asked, r.ID.Raw())
		l.mu.Unlock()
	}
	return m
}

// answerDirectly answers a line without the SDK, on another goroutine, since the next line may
// cancel the call. It returns false if the SDK has to answer.
func (l *line) answerDirectly(text []byte) bool {
	m, ok := readEnvelope(text)
	if !ok || !m.isOfOneEra() || !l.local.home.begun.Load() || !l.s.answersDirectly(&m) {
		return false
	}
	id, key := m.rpcID().Raw(), string(m.id)
	if !l.beginCall(id, false) {
		return true
	}
	ctx, cancel := context.WithCancel(l.ctx)
	l.local.home.calls.begin(key, cancel)
	l.answerBeside(func() {
		defer cancel()
		message, _ := l.s.answerEnvelope(ctx, &m, l.s.nextVisit(l.local))
		l.local.home.calls.remove(key)
		if l.ctx.Err() == nil {
			l.sendAnswer(id, message)
		}
	})
	return true
}

// answerBeside answers a call on another goroutine. It prefers an idle one that has answered
// before, because its stack is large enough for a query already. The goroutines end with the line.
func (l *line) answerBeside(answer func()) {
	select {
	case l.calls <- answer:
		return
	default:
	}
	l.work.Go(func() {
		for {
			answer()
			select {
			case answer = <-l.calls:
			case <-l.closed:
				return
			}
		}
	})
}

// beginCall records a call to be answered; waits marks a call that is never answered. It returns
// false if another open call has the id: then an answer could not be told apart.
func (l *line) beginCall(id any, waits bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.open[id]; taken {
		return false
	}
	l.open[id] = waits
	return true
}

// sendAnswer sends the answer to a call. If that fails, the connection ends.
func (l *line) sendAnswer(id any, message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
	defer l.closeIfDrained()
	if _, err := l.out.Write(append(message, '\n')); err != nil && l.broken == nil {
		l.broken = err
		_ = l.Close()
	}
}

// Write sends a message.
func (l *line) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r := m.(type) {
	case *jsonrpc.Response:
		delete(l.open, r.ID.Raw())
		defer l.closeIfDrained()
	case *jsonrpc.Request:
		if r.IsCall() {
			l.asked[r.ID.Raw()] = true
			defer l.closeIfDrained()
		}
	}
	_, err = l.out.Write(append(b, '\n'))
	return err
}

// refuseLine answers a line from which no id could be read.
func (l *line) refuseLine(code int, why string) {
	b := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":`, code)
	b = append(appendQuoted(b, why), "}}\n"...)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(b) // if the client has gone, the next message shows it
}

// Close ends the connection.
func (l *line) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}
