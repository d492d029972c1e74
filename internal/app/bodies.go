package app

import (
	"errors"
	"path/filepath"

	"loregate/internal/body"
)

// Bodies are the budgets of the requests that one process serves at once.
type Bodies struct {
	Memory int `yaml:"memory" doc:"MiB in memory for the bodies of all requests and the files that they change or read, beyond the first 16 KiB of each; half as much again for answers that their clients have not read. One caller gets a quarter of it, one world three quarters; a single request that needs more than that gets it while it is alone. Further requests wait for 3 s and are then answered with 429 or 503. 0: an eighth of memory, at least 8."`
	Disk   int `yaml:"disk" default:"1024" doc:"MiB in the folder spool of the data folder for files that are being sent and large answers that are being read, in the same shares; at least 128. Each file is removed at the end of its request."`
	Rate   int `yaml:"rate" default:"4" doc:"KiB per second, on average over 10 s, below which a body or a large answer is ended; at least 1. Whole bodies have 30 s besides, files 5 minutes, and answers 2 minutes."`
}

func (b Bodies) validate() error {
	switch {
	case b.Memory < 0:
		return errors.New("bodies.memory: set a number of MiB, or 0 for an eighth of memory")
	case b.Disk < 128:
		return errors.New("bodies.disk: set at least 128")
	case b.Rate < 1:
		return errors.New("bodies.rate: set at least 1")
	}
	return nil
}

// spoolFolder is the folder in the data folder for files of requests that are under way.
const spoolFolder = "spool"

// bodyShare is the share of the memory setting for bodies, which is a small part because handling them takes more.
const bodyShare = 8

func (a *App) openBodies() (err error) {
	c := a.Config
	memory := c.Bodies.Memory
	if memory == 0 {
		memory = max(8, c.Memory/bodyShare)
	}
	a.bodies, err = body.New(body.Config{Folder: filepath.Join(c.Data, spoolFolder), Memory: int64(memory) << 20,
		Disk: int64(c.Bodies.Disk) << 20, Rate: int64(c.Bodies.Rate) << 10})
	return err
}
