package benchtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loregate/internal/wait"
)

// peer is a server of notes that speaks over stdio, with the form of the three calls that all peers
// support.
type peer struct {
	name string
	// writes the notes as the server's calls would; nil makes calls
	fill    func(dir string, note func(n int) (name, text string), notes int) error
	command func(b *testing.B, dir string) *exec.Cmd
	create  func(name, text string) (tool string, arguments any)
	get     func(name string) (tool string, arguments any)
	search  func(words string) (tool string, arguments any)
}

type args = map[string]any

// peers are Loregate and other servers, which scripts/peers.sh installs into the folder PEERS.
var peers = []peer{
	{"loregate", nil, func(b *testing.B, dir string) *exec.Cmd { return exec.Command(program(b), "mcp", "--data", dir) },
		func(name, text string) (string, any) { return "create_card", args{"name": name, "content": text} },
		func(name string) (string, any) { return "get_card", args{"name": name} },
		func(words string) (string, any) {
			return "search_cards", args{"q": words, "search_in": "content", "match_mode": "whole_word", "limit": 20}
		}},
	{"server-memory", func(dir string, note func(n int) (name, text string), notes int) error {
		var lines []byte
		for n := range notes {
			name, text := note(n)
			b, err := json.Marshal(args{"type": "entity", "name": name, "entityType": "note", "observations": []string{text}})
			if err != nil {
				return err
			}
			lines = append(append(lines, b...), '\n')
		}
		return os.WriteFile(filepath.Join(dir, "memory.jsonl"), lines, 0o600)
	}, func(_ *testing.B, dir string) *exec.Cmd {
		c := exec.Command(filepath.Join(os.Getenv("PEERS"), "mcp-server-memory"))
		c.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(dir, "memory.jsonl"))
		return c
	},
		func(name, text string) (string, any) {
			return "create_entities", args{"entities": []any{args{"name": name, "entityType": "note",
				"observations": []string{text}}}}
		},
		func(name string) (string, any) { return "open_nodes", args{"names": []string{name}} },
		func(words string) (string, any) { return "search_nodes", args{"query": words} }},
	{"mcpvault", func(dir string, note func(n int) (name, text string), notes int) error {
		for n := range notes {
			name, text := note(n)
			if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}, func(_ *testing.B, dir string) *exec.Cmd {
		return exec.Command(filepath.Join(os.Getenv("PEERS"), "mcpvault"), dir)
	},
		func(name, text string) (string, any) {
			return "write_note", args{"path": name + ".md", "content": text}
		},
		func(name string) (string, any) { return "read_note", args{"path": name + ".md"} },
		func(words string) (string, any) { return "search_notes", args{"query": words, "limit": 20} }},
}

// BenchmarkPeers writes the same notes to each server, then reads notes at random and searches for
// words by their frequency. It reports the processor time of the server.
func BenchmarkPeers(b *testing.B) {
	requireBench(b)
	if os.Getenv("PEERS") == "" {
		b.Skip("PEERS is not set; scripts/peers.sh installs the others and sets it")
	}
	for _, notes := range []int{1000, 10_000} {
		for _, p := range peers {
			b.Run(p.name+"/"+strconv.Itoa(notes), func(b *testing.B) { p.measure(b, notes) })
		}
	}
}

func (p peer) measure(b *testing.B, notes int) {
	dir := b.TempDir()
	words := newProse(7)
	name := func(n int) string { return fmt.Sprintf("Note %d", n) }
	note := func(n int) (string, string) { return name(n), words.text(1000) }
	made := 0
	if p.fill != nil {
		if err := p.fill(dir, note, notes); err != nil {
			b.Fatal(err)
		}
		made = notes
	}
	s := dialPeer(b, p.command(b, dir))
	write := func() {
		s.callOf(p.create(note(made)))
		made++
	}
	for made < notes {
		write()
	}
	restProgram(b)
	m := medians{}
	for b.Loop() {
		for _, c := range []struct {
			name string
			call func(i int)
		}{
			{"create", func(int) { write() }},
			{"get", func(i int) { s.callOf(p.get(name(i * 7919 % notes))) }},
			{"get-again", func(int) { s.callOf(p.get(name(0))) }},
			{"search", func(int) { s.callOf(p.search(words.word())) }},
		} {
			cpu, calls := programTime(), 0
			for calls < 20 || calls < 5000 && programTime()-cpu < time.Second { // processor time is counted in steps of 10 ms
				c.call(calls)
				calls++
			}
			restProgram(b)
			m.add(c.name+"-cpu-ms", ms(programTime()-cpu)/float64(calls))
		}
	}
	b.ReportMetric(0, "ns/op")
	m.report(b)
}

// restProgram waits until the server has finished the work that earlier calls left to it, so that
// it does not count for the next calls.
func restProgram(b *testing.B) {
	for quiet := 0; quiet < 3; quiet++ {
		cpu := programTime()
		wait.For(b.Context(), 500*time.Millisecond)
		if programTime()-cpu > 10*time.Millisecond {
			quiet = -1
		}
	}
}

// peerSession is a connection to a started server.
type peerSession struct {
	b    *testing.B
	in   *json.Encoder
	out  *bufio.Reader
	last int
}

func dialPeer(b *testing.B, c *exec.Cmd) *peerSession {
	b.Helper()
	in, out := startPiped(b, c)
	b.Cleanup(func() {
		_ = in.Close() // ends the program
		_ = c.Wait()
	})
	s := &peerSession{b: b, in: json.NewEncoder(in), out: out}
	s.ask("initialize", args{"protocolVersion": "2025-06-18", "capabilities": args{},
		"clientInfo": args{"name": "bench", "version": "1"}})
	if err := s.in.Encode(args{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil {
		b.Fatal(err)
	}
	return s
}

func (s *peerSession) callOf(tool string, arguments any) { s.call(tool, arguments) }

// call calls a tool, which must succeed.
func (s *peerSession) call(tool string, arguments any) {
	s.b.Helper()
	line := s.ask("tools/call", args{"name": tool, "arguments": arguments})
	if strings.Contains(line, `"isError":true`) || strings.Contains(line, `"error":{`) {
		s.b.Fatalf("%s %v: %.300s", tool, arguments, line)
	}
}

// ask sends a request and returns the line of its answer.
func (s *peerSession) ask(method string, params any) string {
	s.b.Helper()
	s.last++
	if err := s.in.Encode(args{"jsonrpc": "2.0", "id": s.last, "method": method, "params": params}); err != nil {
		s.b.Fatal(err)
	}
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.b.Fatal(err)
		}
		var answer struct {
			ID     any    `json:"id"`
			Method string `json:"method"`
		}
		if json.Unmarshal([]byte(line), &answer) == nil && answer.Method == "" && answer.ID == float64(s.last) {
			return line
		}
	}
}
