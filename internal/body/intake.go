package body

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config configures an Intake. Zero values are the defaults.
type Config struct {
	// Folder is the folder of files on disk, which New creates, and from which it removes the files of processes that
	// ended; "" is the system's folder of temporary files.
	Folder string
	Memory int64         // bytes in memory of all requests together; 0 is 32 MiB
	Disk   int64         // bytes on disk of all requests together; 0 is 1 GiB
	Rate   int64         // bytes per second below which a transfer is ended; 0 is 4 KiB
	Window time.Duration // over which that rate is an average; 0 is 10 s
	Wait   time.Duration // for room; 0 is 3 s
}

// Intake has the budgets of all requests. It is safe for concurrent use.
type Intake struct {
	folder  string
	memory  *budget // of bodies, and of handlers that have them
	answers *budget // in memory, that wait for their clients: they never hold up bodies
	loads   *budget // whole files that handlers load, by number
	disk    *budget
	window  time.Duration
	due     int64 // bytes that are transferred in a window at the minimum rate
}

// New returns an Intake.
func New(c Config) (*Intake, error) {
	if c.Folder != "" {
		if err := emptyFolder(c.Folder); err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	}
	wait, rate := cmp.Or(c.Wait, 3*time.Second), cmp.Or(c.Rate, 4<<10)
	memory := cmp.Or(c.Memory, 32<<20)
	in := &Intake{folder: c.Folder, memory: newBudget("memory", memory, wait), answers: newBudget("memory", memory/2,
		wait),
		disk: newBudget("disk", cmp.Or(c.Disk, 1<<30), wait), window: cmp.Or(c.Window, 10*time.Second)}
	in.loads = newBudget("memory for files", 0, wait)
	in.loads.most = [shares]int64{1, maxLoads, maxLoads}
	in.due = max(1, int64(float64(rate)*in.window.Seconds()))
	return in, nil
}

// maxLoads is the number of whole files that handlers load at once; of one caller it is one. A file takes several times
// its size in memory while it is stored or read.
const maxLoads = 2

// filePrefix begins the names of the files.
const filePrefix = "body-"

// emptyFolder creates the folder, and removes files from it that a process left behind.
func emptyFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), filePrefix) {
			continue
		}
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) &&
			!errors.Is(err, fs.ErrPermission) { // another process has it open
			return err
		}
	}
	return nil
}

// InMemory returns the bytes that requests hold in memory.
func (in *Intake) InMemory() int64 { return in.memory.inUse() + in.answers.inUse() }

// OnDisk returns the bytes that requests hold on disk.
func (in *Intake) OnDisk() int64 { return in.disk.inUse() }
