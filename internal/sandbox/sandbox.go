// Package sandbox starts outside programs, such as Blender, on files that somebody gave.
//
// Its invariant: a confined program has an environment without any setting of the server, limits on its memory, time
// and files, and one folder for all that it writes. As far as the system allows it, which Protection measures, the
// program sees no other files than that folder and the system's programs and libraries, and reaches no network and no
// other process. Which program is started, and on which files, is the caller's business.
package sandbox

import (
	"cmp"
	"context"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Config sets the limits of confined programs. The zero Config has the defaults and logs nothing.
type Config struct {
	Memory uint64       // address space of each program, in bytes; 0 means 4 GiB
	Logger *slog.Logger // learns once which protection holds; nil for none
}

// The limits of a program. Blender takes 0.9 GiB of address space for a small scene and Godot 0.5 GiB. The longest run
// of the studio takes an hour, on two threads. The largest model that the studio reads has a quarter of a GiB.
const (
	defaultMemory = 4 << 30
	maxCPU        = 4 * time.Hour
	maxFileSize   = 1 << 30
	maxProcesses  = 1024
)

// Sandbox starts programs confined.
type Sandbox struct {
	memory uint64
	logger *slog.Logger
	logged sync.Once
}

// New makes a Sandbox. It starts no program.
func New(c Config) *Sandbox {
	return &Sandbox{memory: cmp.Or(c.Memory, defaultMemory), logger: c.Logger}
}

// Confine prepares a command that has not been started: it will run in dir, which is also its home and the place of
// its temporary files, and see no other folder that can be written. The command's Env may only contain the
// variables that this program needs besides.
func (s *Sandbox) Confine(cmd *exec.Cmd, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Env = dir, append(Environment(dir), cmd.Env...)
	if s.logger != nil {
		s.logged.Do(func() { s.log(Measure()) })
	}
	return s.confine(cmd)
}

func (s *Sandbox) log(p Protection) {
	level := slog.LevelInfo
	if !p.Files || !p.Network {
		level = slog.LevelWarn
	}
	s.logger.Log(context.Background(), level, "protection of outside programs", "holds", p.String())
}

// Environment returns the environment that every program has. It contains no setting of the server and no secret.
func Environment(home string) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "TZ=UTC",
		"XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_DATA_HOME=" + home}
}

// Protection lists the parts of the sandbox that hold on this system. The zero Protection is that of a system without
// any of the means.
type Protection struct {
	Files     bool   // no file can be read or written besides the program's folder and the system's own folders
	Network   bool   // no address can be reached
	Processes bool   // no other process can be seen or signalled
	Limits    bool   // on memory, processor time, the size of files and the number of processes
	By        string // "namespaces", "Landlock" or ""
	Refused   string // why the better means do not work here; "" if the best one does
}

// String describes the protection to a person, with a remedy for the parts that do not hold.
func (p Protection) String() string {
	var holds, open []string
	for _, part := range []struct {
		holds bool
		words string
	}{{p.Files, "other files"}, {p.Network, "network"}, {p.Processes, "other processes"}} {
		if part.holds {
			holds = append(holds, part.words)
		} else {
			open = append(open, part.words)
		}
	}
	text := "a temporary folder and a minimal environment"
	if p.Limits {
		text += ", limits of memory and time"
	}
	if len(holds) > 0 {
		text += "; kept from " + strings.Join(holds, ", ")
	}
	if p.By != "" {
		text += " (" + p.By + ")"
	}
	if len(open) > 0 {
		text += "; NOT kept from " + strings.Join(open, ", ") + ": " + cmp.Or(p.Refused, "this system has no means for it") +
			"; run programs on a Linux system that allows user namespaces or has Landlock"
	}
	return text
}
