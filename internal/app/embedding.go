package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/embed"
	"loregate/internal/slicesx"
	"loregate/internal/usage"
	"loregate/internal/vector"
)

// Embedding configures the model by which searches find cards by their meaning.
type Embedding struct {
	URL   string `yaml:"url" doc:"Base address of an OpenAI-compatible embedding endpoint, such as http://127.0.0.1:11434/v1. The texts of cards of every level, and the queries of searches, are sent to it. Empty: none; searches find words, and words of the same meaning."`
	Model string `yaml:"model" doc:"Name of the model at the embedding endpoint. Without url: name of a model that loregate model install has installed; empty means the only one that is installed, if any."`
	Key   Secret `yaml:"key" doc:"Key of the embedding endpoint. Set it with the variable rather than in a file."`
}

// validate returns an error for settings with invalid values.
func (c Embedding) validate() error {
	if c.URL == "" && c.Key != "" {
		return errors.New("embedding.url: is missing, although embedding.key is set; set it too")
	}
	if c.URL == "" {
		return nil
	}
	_, _, err := c.newEmbedder("")
	return err
}

// newEmbedder creates the configured embedder, and the name that identifies its model. It is nil if none is configured.
// Models are installed in the folder models.
func (c Embedding) newEmbedder(models string) (e vector.Embedder, model string, err error) {
	if c.URL == "" {
		return findInstalled(models, c.Model)
	}
	client, err := embed.New(embed.Config{URL: c.URL, Model: c.Model, Key: string(c.Key)})
	if err != nil {
		return nil, "", fmt.Errorf("embedding.url and embedding.model: %w", err)
	}
	return client, c.URL + " " + c.Model, nil
}

// openVectors creates the keeper of vectors; a.vectors stays nil if no embedding model is configured.
func (a *App) openVectors() error {
	e, model, err := a.Config.Embedding.newEmbedder(a.Config.modelFolder())
	if err != nil || e == nil {
		return err
	}
	weight := 1.0
	if m, ok := e.(*lazyModel); ok {
		weight = m.weight
	}
	a.vectors, err = vector.New(vector.Config{Embedder: e, Model: model, Weight: weight,
		Folder: filepath.Join(a.Config.Data, "vectors"), Recall: a.recordRecall,
		Logger: a.logger, Now: a.now})
	return err
}

// recordRecall records a sample of the recall of vectors.
func (a *App) recordRecall(w access.WorldID, share float64) {
	a.usage.Record(w, usage.Event{Name: usage.LoreRetrieved, Purpose: "retrieval", Recall: &share})
}

// nearness returns the keeper of vectors for the canon's searches; nil if there is none.
func (a *App) nearness() canon.Nearness {
	if a.vectors == nil {
		return nil
	}
	return a.vectors
}

// FollowVectors makes vectors of the cards in the background until stop is called, which waits.
func (a *App) FollowVectors(ctx context.Context) (stop func()) {
	if a.vectors == nil {
		return func() {}
	}
	quiet := access.NewGuard(access.Config{Now: a.now, Logger: a.logger}) // each batch of cards would be recorded
	return runBehind(ctx, func(ctx context.Context) { a.vectors.Follow(ctx, vectorSource{a.Canon, quiet}) })
}

// vectorSource implements [vector.Source].
type vectorSource struct {
	canon *canon.Canon
	guard *access.Guard
}

func (s vectorSource) Changed() <-chan struct{} { return s.canon.Changed() }

func (s vectorSource) Worlds(ctx context.Context) ([]access.WorldID, error) {
	all, err := s.canon.Worlds(ctx)
	all = slices.DeleteFunc(all, func(w canon.World) bool { return s.canon.LostWorld(w.ID) })
	return slicesx.Map(all, func(w canon.World) access.WorldID { return w.ID }), err
}

func (s vectorSource) Read(ctx context.Context, w access.WorldID, f func(*canon.Snapshot) error) error {
	return runAdmitted(ctx, s.guard, systemCaller(), access.Request{Operation: "embed_cards", Effect: access.Read,
		MinRole: access.RoleAdmin, World: w, Correlation: uuid.Must(uuid.NewV7()).String()},
		func(g access.Grant) error { return s.canon.Read(ctx, g, f) })
}
