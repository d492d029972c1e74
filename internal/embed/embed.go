// Package embed turns texts into vectors with the embedding model of an endpoint that implements
// OpenAI's API, such as Ollama, vLLM or llama.cpp; or with a static model from a file: one of model2vec, or word vectors
// as text.
//
// Its invariant: texts are sent to the configured endpoint and nowhere else, and no error contains
// any part of a text or the key. A file from outside is read within bounds, and refused with the reason. The caller decides how to use the vectors.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"loregate/internal/fault"
)

// Config configures a Client. URL and Model are required.
type Config struct {
	// URL is the endpoint's base, such as https://api.openai.com/v1.
	URL string
	// Model is the endpoint's name of the embedding model.
	Model string
	// Key is sent as a bearer token; "" for none.
	Key string
	// HTTP sends the requests. nil is a client that waits 30 s and follows no redirects, since the
	// texts hold facts of every level.
	HTTP *http.Client
}

// Client embeds texts. It is safe for concurrent use.
type Client struct {
	endpoint string
	cfg      Config
}

// New returns a Client. It sends nothing yet.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("embed: %q is not an http or https address", c.URL)
	}
	if c.Model == "" {
		return nil, errors.New("embed: set the name of a model")
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 30 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Client{strings.TrimSuffix(base.String(), "/") + "/embeddings", c}, nil
}

// Limits of a call.
const (
	maxBatch  = 64       // texts
	maxAnswer = 64 << 20 // bytes
)

// Embed returns a vector for each text, in order, all of one length. Its error is fault.Unavailable
// if the endpoint does not answer as expected.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(maxBatch, len(texts))
		got, err := c.embedBatch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
		texts = texts[n:]
	}
	for _, v := range out {
		if len(v) != len(out[0]) {
			return nil, unavailableError("the embedding endpoint returned vectors of different lengths", nil)
		}
	}
	return out, nil
}

func (c *Client) embedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": c.cfg.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, unavailableError("the embedding endpoint does not respond", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, unavailableError(fmt.Sprintf("the embedding endpoint answers with status %d; check its address, "+
			"model and key", res.StatusCode), nil)
	}
	return decodeAnswer(io.LimitReader(res.Body, maxAnswer), len(texts))
}

// decodeAnswer decodes an answer, whose vectors may be in any order.
func decodeAnswer(r io.Reader, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, unavailableError("the embedding endpoint's answer cannot be read", err)
	}
	out := make([][]float32, n)
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= n || len(d.Embedding) == 0 || out[d.Index] != nil {
			return nil, unavailableError("the embedding endpoint's answer does not match the request", nil)
		}
		out[d.Index] = d.Embedding
	}
	for _, v := range out {
		if v == nil {
			return nil, unavailableError("the embedding endpoint left out a text", nil)
		}
	}
	return out, nil
}

func unavailableError(message string, cause error) error {
	return fault.New(fault.Unavailable, "%s", message).Because(cause)
}
