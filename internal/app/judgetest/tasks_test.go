package judgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"loregate/internal/app/tasktest"
	"loregate/internal/programtest"
)

// withPrograms leaves out the tasks on a target of the studio whose program is not installed.
func withPrograms(t *testing.T, tasks []tasktest.Task) []tasktest.Task {
	t.Helper()
	if _, ok := programtest.Look("blender"); ok {
		return tasks
	}
	all := len(tasks)
	tasks = slices.DeleteFunc(tasks, func(task tasktest.Task) bool { return task.Uses("blender:") })
	if left := all - len(tasks); left > 0 {
		programtest.Lacks(t, fmt.Sprintf("%d tasks need Blender, which is not installed", left))
	}
	return tasks
}

// The check of a task that only reads succeeds at the start, so its facts are those of the sample.
// The check of one that changes something fails at the start, so that it cannot be solved by doing
// nothing.
func TestChecksOfTasksFitTheSample(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			tasks := withPrograms(t, loadCases[tasktest.Task](t, half, "tasks.jsonl"))
			w := tasktest.Serve(t)
			for _, task := range tasks {
				for _, c := range task.Setup {
					status, answer := w.Do(t, c)
					if status >= http.StatusMultipleChoices || strings.Contains(string(answer), `"status":"rejected"`) {
						t.Errorf("task %s: the setup is refused with status %d", task.ID, status)
					}
				}
				if strings.Contains(task.Check.Path, "{") {
					continue
				}
				if w.Succeeds(t, task.Check) == task.Changes {
					t.Errorf("task %s: at the start its check succeeds: %v", task.ID, !task.Changes)
				}
			}
		})
	}
}

// solvedTasks is the share of tasks of the development half that the picker has solved: 75 of 85.
const solvedTasks = 75.0 / 85

// Each task has a world of its own, so that none depends on another.
func TestTasks(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			var solved ratio
			areas := map[string]*ratio{}
			var listed, worked int64
			for _, task := range withPrograms(t, sample(loadCases[tasktest.Task](t, half, "tasks.jsonl"), 28)) {
				w := tasktest.Serve(t)
				for _, c := range task.Setup {
					w.Do(t, c)
				}
				s := w.Connect(t, "/mcp", task.Key)
				p, err := tasktest.New(s.Tools, func(tool string, in map[string]any) (string, bool) {
					answer, failed := s.Call(t, tool, in)
					logMiss(t, half, "%s %v: %v %.300s", tool, in, failed, answer)
					return answer, failed
				})
				if err != nil {
					t.Fatal(err)
				}
				p.Solve(task)
				right := w.Solved(t, task, p.Shown())
				solved.add(right)
				countKind(areas, task.Area).add(right)
				listed += s.Listed
				worked += s.Worked()
				if !right {
					logMiss(t, half, "%s %q: not solved after %d calls", task.ID, task.Text, p.Calls)
				}
			}
			report(t, half, "tasks", "solved", solved.value(), solved.all)
			reportKinds(t, half, "tasks", "solved", areas)
			if half == development && solved.value() < solvedTasks {
				t.Errorf("%d of %d tasks are solved, want at least a share of %.3f", solved.right, solved.all, solvedTasks)
			}
			n := int64(max(solved.all, 1))
			t.Logf("%s: %d of %d solved; bytes a task: list %d (about %d tokens), calls %d (about %d tokens)", half,
				solved.right, solved.all, listed/n, listed/n/4, worked/n, worked/n/4)
		})
	}
}
