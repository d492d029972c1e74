package clienttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/app/tasktest"
)

// taskFile holds the tasks of the development half of judgetest.
const taskFile = "../judgetest/cases/development/tasks.jsonl"

// loadTasks returns the tasks, or as many of them as CLIENT_TASKS tells, at even distances.
func loadTasks(t *testing.T) (tasks []tasktest.Task) {
	t.Helper()
	b, err := os.ReadFile(taskFile)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var task tasktest.Task
		if err := json.Unmarshal(lines.Bytes(), &task); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, task)
	}
	n := min(len(tasks), number("CLIENT_TASKS", 4))
	some := make([]tasktest.Task, n)
	for i := range some {
		some[i] = tasks[i*len(tasks)/n]
	}
	return some
}

// worker lets a client work on a task. It returns all answers that the model was shown, and about the
// number of tokens of definitions and answers.
type worker struct {
	name string
	work func(t *testing.T, at server, m *tasktest.Meter, task tasktest.Task) (shown string, tokens int)
}

// bytesPerToken is about the number of bytes of a token of English JSON.
const bytesPerToken = 4

// converses returns a worker whose client talks to the scripted model.
func converses(c client) worker {
	return worker{c.name, func(t *testing.T, at server, _ *tasktest.Meter, task tasktest.Task) (string, int) {
		m := newModel(t, func(talk talk) step { return nextStep(t, talk, task) })
		said := converse(t, c, at, m, task.Text)
		seen, asked := m.last()
		if asked == 0 {
			t.Errorf("the model was shown no tool; the client said: %.600s", said)
		}
		shown := strings.Join(seen.results, "\n")
		size := len(shown)
		for _, d := range seen.definitions {
			size += len(d.Name) + len(d.Description) + len(d.Schema)
		}
		return shown, size / bytesPerToken
	}}
}

// nextStep returns the picker's next call. A model of a client that defers tools loads those of the
// server first; it is shown their names.
func nextStep(t *testing.T, talk talk, task tasktest.Task) step {
	if talk.searches == 0 {
		return step{tool: searchTool, args: object{"query": "loregate", "max_results": 20}}
	}
	tool, in, ok, err := tasktest.Next(talk.definitions, task, talk.results)
	if err != nil {
		t.Error(err)
	}
	if !ok {
		return step{say: "done"}
	}
	return step{tool: tool, args: in}
}

// picks works on a task by a picker whose calls go through a program.
func picks(t *testing.T, tools []tasktest.Tool, do tasktest.Do, task tasktest.Task) (shown string, tokens int) {
	t.Helper()
	p, err := tasktest.New(tools, do)
	if err != nil {
		t.Fatal(err)
	}
	p.Solve(task)
	size := len(p.Shown())
	for _, d := range tools {
		size += len(d.Name) + len(d.Description) + len(d.Schema)
	}
	return p.Shown(), size / bytesPerToken
}

// remote works by mcp-remote, which relays standard input and output to a server.
func remote(t *testing.T, at server, m *tasktest.Meter, task tasktest.Task) (string, int) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs(t), "mcp-remote"), at.url, "--transport", "http-only",
		"--allow-http", "--header", "Authorization: Bearer "+at.key)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	s := tasktest.ConnectBy(t, m, cmd)
	return picks(t, s.Tools, func(tool string, in map[string]any) (string, bool) { return s.Call(t, tool, in) }, task)
}

// inspect works by the Inspector, which makes one call a run.
func inspect(t *testing.T, at server, _ *tasktest.Meter, task tasktest.Task) (string, int) {
	var list struct {
		Tools []struct {
			Name, Description string
			Schema            json.RawMessage `json:"inputSchema"`
			Annotations       struct{ ReadOnlyHint bool }
		}
	}
	runInspector(t, at, &list, "tools/list")
	var tools []tasktest.Tool
	for _, tool := range list.Tools {
		tools = append(tools, tasktest.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema,
			Reads: tool.Annotations.ReadOnlyHint})
	}
	return picks(t, tools, func(tool string, in map[string]any) (answer string, failed bool) {
		args := []string{"--tool-name", tool}
		for name, v := range in {
			text, isText := v.(string)
			if !isText {
				text = mustJSON(v)
			}
			args = append(args, "--tool-arg", name+"="+text)
		}
		var result struct {
			Content []struct{ Text string }
			IsError bool
		}
		if !runInspector(t, at, &result, "tools/call", args...) {
			return "", true
		}
		for _, c := range result.Content {
			answer += c.Text + "\n"
		}
		return answer, result.IsError
	}, task)
}

// runInspector runs one method and decodes its output. It reports whether there was one.
func runInspector(t *testing.T, at server, out any, method string, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs(t), "mcp-inspector"), slices.Concat([]string{"--cli", at.url,
		"--transport", "http", "--header", "Authorization: Bearer " + at.key, "--method", method}, args)...)
	cmd.Env = append(os.Environ(), "PATH="+programs(t)+":"+os.Getenv("PATH")) // it needs a newer Node
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err == nil || len(b) > 0 { // it prints the answer of a tool that fails, and ends with a status
		err = json.Unmarshal(b, out)
	}
	if err != nil {
		t.Logf("%s %v: %v: %.300s%.300s", method, args, err, b, stderr.String())
	}
	return err == nil
}

// leastSolved is the share of tasks below which the test fails; docs/judgement.md has the measured ones.
const leastSolved = 0.5

// TestClientsSolveTasks gives each client tasks in words that no tool's name has. The figures stand in
// docs/judgement.md.
func TestClientsSolveTasks(t *testing.T) {
	programs(t)
	tasks := loadTasks(t)
	for _, by := range []worker{
		converses(clients[0]), converses(client{"claude, tools deferred", "claude", prepareDeferring}), converses(clients[1]),
		converses(clients[2]), converses(client{"codex, tools searched", "codex", prepareCodexSearch}), {"mcp-remote", remote}, {"inspector", inspect},
	} {
		t.Run(by.name, func(t *testing.T) {
			began := time.Now()
			var wrong []string
			sent, tokens := int64(0), 0
			for _, task := range tasks {
				t.Run(task.ID, func(t *testing.T) {
					w := tasktest.Serve(t)
					for _, c := range task.Setup {
						w.Do(t, c)
					}
					m := w.Meter(t)
					shown, n := by.work(t, server{m.URL + "/mcp", w.Keys[task.Key]}, m, task)
					if !w.Solved(t, task, shown) {
						wrong = append(wrong, task.ID)
						t.Logf("not solved; the model was shown %.4000s", shown)
					}
					sent, tokens = sent+m.Bytes(), tokens+n
				})
			}
			n := len(tasks)
			t.Logf("%s: %d of %d tasks; %d bytes on the wire and %d tokens a task, %.1f s a task", by.name, n-len(wrong), n,
				sent/int64(n), tokens/n, time.Since(began).Seconds()/float64(n))
			t.Logf("%s: not solved: %v", by.name, wrong)
			if float64(n-len(wrong)) < leastSolved*float64(n) {
				t.Errorf("%s: fewer tasks are solved than %.0f%%", by.name, 100*leastSolved)
			}
		})
	}
}
