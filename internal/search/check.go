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

// Verify compares each index that is loaded or has files, document by document, with the data of
// its world. It returns the folders of the indexes that differ. Removing such a folder makes the
// library rebuild the index.
func (l *Library) Verify(ctx context.Context) (wrong []string, err error) {
	worlds, err := l.cfg.Worlds(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range worlds {
		s := l.indexFor(w)
		s.mu.RLock()
		loaded := s.loaded
		s.mu.RUnlock()
		if _, err := os.Stat(s.files.path); !loaded && (s.files.path == "" || errors.Is(err, fs.ErrNotExist)) {
			continue
		}
		same := true
		if err := l.cfg.Read(ctx, w, func(from Source) (err error) {
			return l.guard(s, func() error {
				same, err = s.verifyIndex(ctx, from)
				return err
			})
		}); err != nil {
			return wrong, err
		}
		if !same {
			wrong = append(wrong, s.files.path)
		}
	}
	return wrong, nil
}

func (s *worldIndex) verifyIndex(ctx context.Context, from Source) (same bool, err error) {
	now, err := from.State(ctx)
	if err != nil {
		return false, err
	}
	for there := false; !there; {
		if there, err = s.catchUp(ctx, from, now, 1); err != nil {
			return false, err
		}
	}
	s.mu.RLock() // no changes are applied meanwhile
	defer s.mu.RUnlock()
	if s.at.Epoch != now.Epoch || s.at.Gen != now.Gen {
		return true, nil // the index has advanced; the next Verify checks it
	}
	living, after := 0, int64(0)
	for {
		list, err := from.Changes(ctx, after, chunkSize)
		if err != nil {
			return false, err
		}
		docs, _ := splitChanges(list)
		if living += len(docs); !s.index.hasDocs(docs) {
			return false, nil
		}
		if len(list) < chunkSize {
			return living == s.index.countLiving(), nil
		}
		after = list[len(list)-1].Gen
	}
}

// countLiving returns the number of living documents.
func (x *Index) countLiving() (n int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, l := range x.levels {
		for _, p := range l.parts {
			n += p.n - p.gone
		}
	}
	return n
}

// hasDocs reports whether the index contains all the given documents unchanged.
func (x *Index) hasDocs(docs []Doc) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	b := newBuilder()
	for i := range docs {
		b.add(&docs[i])
	}
	want := b.buildSegment()
	return !slices.ContainsFunc(docs, func(d Doc) bool {
		at, _ := want.findDoc(d.ID)
		l := x.levels[d.Level]
		return l == nil || !slices.ContainsFunc(l.parts, func(p *part) bool {
			doc, ok := p.findDoc(d.ID)
			return ok && !p.isDead(doc) && p.docLength(doc) == want.docLength(at) &&
				p.nameLength(doc) == want.nameLength(at) &&
				bytes.Equal(p.docRow(doc), want.docRow(at)) && slices.Equal(p.docTerms(doc), want.docTerms(at))
		})
	})
}

// docTerms returns the terms of a document, each prefixed with the number of its dictionary.
func (s *segment) docTerms(doc uint32) (list []string) {
	s.eachTerm(doc, func(dict, term int) {
		list = append(list, string(rune('0'+dict))+string(s.dicts[dict].termText(term)))
	})
	return list
}

func folderName(world ID) string { return hex.EncodeToString(world[:]) }
