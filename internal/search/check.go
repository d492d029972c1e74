package search

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Verify compares the indexes that were asked for, or have files, with what their worlds
// say, document by document, and gives the folders of those that differ; their removal has
// them made anew.
func (l *Library) Verify(ctx context.Context) (wrong []string, err error) {
	worlds, err := l.cfg.Worlds(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range worlds {
		s := l.shelf(w)
		s.mu.RLock()
		loaded := s.loaded
		s.mu.RUnlock()
		if _, err := os.Stat(s.files.path); !loaded && (s.files.path == "" || errors.Is(err, fs.ErrNotExist)) {
			continue
		}
		same := true
		if err := l.cfg.Read(ctx, w, func(from Source) (err error) {
			same, err = s.verify(ctx, from)
			return err
		}); err != nil {
			return wrong, err
		}
		if !same {
			wrong = append(wrong, s.files.path)
		}
	}
	return wrong, nil
}

func (s *shelf) verify(ctx context.Context, from Source) (same bool, err error) {
	now, err := from.State(ctx)
	if err != nil {
		return false, err
	}
	for there := false; !there; {
		if there, err = s.follow(ctx, from, now, 1); err != nil {
			return false, err
		}
	}
	s.mu.RLock() // nothing is taken in meanwhile
	defer s.mu.RUnlock()
	if s.at.Epoch != now.Epoch || s.at.Gen != now.Gen {
		return true, nil // it went on, and is followed by whoever did that
	}
	living, after := 0, int64(0)
	for {
		list, err := from.Changes(ctx, after, chunk)
		if err != nil {
			return false, err
		}
		docs, _ := split(list)
		if living += len(docs); !s.index.has(docs) {
			return false, nil
		}
		if len(list) < chunk {
			return living == s.index.living(), nil
		}
		after = list[len(list)-1].Gen
	}
}

// living is how many documents there are.
func (x *Index) living() (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, l := range x.levels {
		for _, p := range l.parts {
			n += p.n - p.gone
		}
	}
	return n
}

// has reports whether the index has each of some documents as it is.
func (x *Index) has(docs []Doc) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b := newBuilder()
	for i := range docs {
		b.add(&docs[i])
	}
	want := b.segment()
	return !slices.ContainsFunc(docs, func(d Doc) bool {
		at, _ := want.find(d.ID)
		l := x.levels[d.Level]
		return l == nil || !slices.ContainsFunc(l.parts, func(p *part) bool {
			doc, ok := p.find(d.ID)
			return ok && !p.isDead(doc) && p.length(doc) == want.length(at) && bytes.Equal(p.row(doc), want.row(at)) && slices.Equal(p.said(doc), want.said(at))
		})
	})
}

// said gives the terms of a document with the dictionary that each is of.
func (s *segment) said(doc uint32) (list []string) {
	s.eachTerm(doc, func(dict, term int) {
		list = append(list, string(rune('0'+dict))+string(s.dicts[dict].word(term)))
	})
	return list
}

func nameOf(world ID) string { return hex.EncodeToString(world[:]) }
