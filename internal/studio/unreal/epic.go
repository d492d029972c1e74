package unreal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/markup"
	"loregate/internal/studio"
)

// epicServer is the name by which the MCP server that Epic ships in the editor calls itself.
const epicServer = "unreal-mcp"

// epic is the route over the MCP server that Epic ships in the editor: its tools are called by their toolset, one at
// a time, since the editor does them on its game thread. Only the calls below are made.
type epic struct {
	address string
	http    *http.Client
	mu      sync.Mutex // held during a call; guards session
	session *mcp.ClientSession
}

// The toolsets and tools that may be called.
const (
	sceneTools = "editor_toolset.toolsets.scene.SceneTools"
	assetTools = "editor_toolset.toolsets.asset.AssetTools"
)

var allowedTools = map[string][]string{
	assetTools: {"find_assets"},
	sceneTools: {"add_to_scene_from_asset", "remove_from_scene"},
}

func newEpic(address string, transport http.RoundTripper) *epic {
	return &epic{address: address, http: newHTTPClient(limited{transport})}
}

// limited bounds the size of replies.
type limited struct{ next http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, answerLimit), res.Body}
	}
	return res, err
}

// connect returns the session with the server. The caller holds mu.
func (e *epic) connect(ctx context.Context) (*mcp.ClientSession, error) {
	if e.session != nil {
		return e.session, nil
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "loregate", Version: "1"}, nil)
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: e.address, HTTPClient: e.http,
		MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, studio.Fail(studio.TargetGone,
			"no Unreal editor answers at studio.unreal; start it with the plugins Unreal MCP and All Toolsets").Because(err)
	}
	e.session = s
	return s, nil
}

// close ends the session; the next call opens another. The caller holds mu.
func (e *epic) close() {
	if e.session != nil {
		_ = e.session.Close() // the session is given up
		e.session = nil
	}
}

func (e *epic) probe(ctx context.Context) (version string, double bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.connect(ctx)
	if err != nil {
		return "", false, err
	}
	server := s.InitializeResult().ServerInfo
	switch server.Name {
	case epicServer:
	case DoubleKind:
		double = true
	default:
		e.close()
		return "", false, studio.Fail(studio.Missing, "the server at studio.unreal calls itself %q, not %q",
			markup.Clip(server.Name, 60), epicServer)
	}
	return "mcp " + markup.Clip(server.Version, 60), double, nil
}

// call calls a tool and decodes its return value. Its errors are failures.
func (e *epic) call(ctx context.Context, toolset, tool string, arguments, out any) error {
	allowed := false
	for _, name := range allowedTools[toolset] {
		allowed = allowed || name == tool
	}
	if !allowed {
		return studio.Fail(studio.PolicyDenied, "the Unreal editor may not be asked for %s.%s", toolset, tool)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.connect(ctx)
	if err != nil {
		return err
	}
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "call_tool", Arguments: map[string]any{
		"toolset_name": toolset, "tool_name": tool, "arguments": arguments}})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		e.close()
		return studio.Fail(studio.TargetGone, "the Unreal editor stopped answering").Because(err)
	}
	text := ""
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	if res.IsError {
		return studio.Fail(studio.ExecFailed, "the Unreal editor refused %s: %s", tool, markup.Clip(text, 200))
	}
	var said struct {
		Value json.RawMessage `json:"returnValue"`
	}
	if err = json.Unmarshal([]byte(text), &said); err == nil && out != nil {
		err = json.Unmarshal(said.Value, out)
	}
	if err != nil {
		return studio.Fail(studio.ExecFailed, "the Unreal editor's answer to %s does not follow its documentation",
			tool).Because(fmt.Errorf("unreal: %w", err))
	}
	return nil
}

// objectRef is a reference to an object of the editor.
type objectRef struct {
	Path string `json:"refPath"`
}

// UnmarshalJSON takes a reference, or the bare path that some tools return.
func (o *objectRef) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &o.Path)
	}
	type plain objectRef
	return json.Unmarshal(b, (*plain)(o))
}

func (e *epic) searchAssets(ctx context.Context) (f assetList, err error) {
	var found []objectRef
	err = e.call(ctx, assetTools, "find_assets",
		map[string]any{"folder_path": root, "name": "", "recursive": true}, &found)
	for _, o := range found {
		if strings.HasPrefix(o.Path, root+"/") {
			f.Assets = append(f.Assets, asset{Name: nameOfAsset(o.Path), Path: o.Path})
		}
	}
	return f, err
}

func (e *epic) spawn(ctx context.Context, asset string, p studio.Placement) (string, error) {
	var actor objectRef
	err := e.call(ctx, sceneTools, "add_to_scene_from_asset", map[string]any{
		"asset_path": asset, "name": nameOfAsset(asset),
		"xform": map[string]any{
			"location": map[string]float64{"x": inCentimetres(p.Location[0]), "y": -inCentimetres(p.Location[1]),
				"z": inCentimetres(p.Location[2])},
			"rotation": map[string]float64{"pitch": 0, "yaw": yawOf(p), "roll": 0},
			"scale":    map[string]float64{"x": p.Scale, "y": p.Scale, "z": p.Scale},
		}}, &actor)
	return actor.Path, err
}

func (e *epic) destroy(ctx context.Context, actor string) error {
	return e.call(ctx, sceneTools, "remove_from_scene", map[string]any{"actor": objectRef{actor}}, nil)
}
