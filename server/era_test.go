package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	library "github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A program that is this test binary started anew serves stdio.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE_STDIO") != "" {
		gate := newFakeGate()
		close(gate.release)
		if err := New(gate, fakeInfo).Stdio(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every version that the handshake knows is answered by itself; all others by the newest of them.
func TestHandshakeVersions(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "1900-01-01": "2025-11-25",
	} {
		t.Run(asked, func(t *testing.T) {
			c := connect(t)
			c.send(strings.Replace(handshake, "2025-11-25", asked, 1))
			got := decode(t, c.next())
			if at(got, "result.protocolVersion") != want {
				t.Errorf("got %v, want %s", at(got, "result.protocolVersion"), want)
			}
			if capabilities := compact(t, at(got, "result.capabilities")); capabilities != `{"tools":{}}` {
				t.Errorf("declares %s", capabilities)
			}
			if at(got, "result.instructions") != "Be kind." || compact(t, at(got, "result.serverInfo")) != `{"name":"test","version":"1.2.3"}` {
				t.Errorf("introduces itself with %v", got)
			}
		})
	}
}

func TestDiscover(t *testing.T) {
	c := connect(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}` + "\n")
	got, ok := at(decode(t, c.next()), "result").(map[string]any)
	if !ok {
		t.Fatal("no result")
	}
	want := `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.2.3"}},"cacheScope":"private","capabilities":{"tools":{}},"instructions":"Be kind.","resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"ttlMs":300000}`
	if compact(t, got) != want {
		t.Errorf("got\n%s\nwant\n%s", compact(t, got), want)
	}
}

// The list that is made once says what the library would say, in both eras.
func TestListIsTheLibrarys(t *testing.T) {
	s := New(newFakeGate(), fakeInfo)
	for era, params := range map[string]string{"older": `{}`, "modern": "{" + modernMeta + "}"} {
		t.Run(era, func(t *testing.T) {
			q, f := parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params + `}`))
			if f != nil {
				t.Fatal(f.message)
			}
			response, ok := s.mcp.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":`+params+`}`)).(library.JSONRPCResponse)
			if !ok {
				t.Fatal("the library refuses")
			}
			theirs, err := json.Marshal(response.Result)
			if err != nil {
				t.Fatal(err)
			}
			got, want := decode(t, string(s.ready(q, audience{caller: "local"}))), decode(t, string(theirs))
			byName(got)
			byName(want)
			if compact(t, got) != compact(t, want) {
				t.Errorf("got\n%s\nwant\n%s", compact(t, got), compact(t, want))
			}
		})
	}
}

func TestListPages(t *testing.T) {
	c := connect(t)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"!"}}` + "\n")
	if got := decode(t, c.next()); fmt.Sprint(at(got, "error.code")) != "-32602" || !strings.Contains(fmt.Sprint(at(got, "error.message")), "one page") {
		t.Errorf("a cursor that is none: %v", got)
	}
}

// byName turns the tools of a list into a map.
func byName(list map[string]any) {
	tools := map[string]any{}
	for _, tool := range list["tools"].([]any) {
		tools[tool.(map[string]any)["name"].(string)] = tool
	}
	list["tools"] = tools
}

func TestInstructionsFit(t *testing.T) {
	if n := len(Instructions); n >= 2048 {
		t.Errorf("%d bytes; clients cut at 2 KB", n)
	}
	for _, status := range []string{"ok", "succeeded", "partial", "invalid", "denied", "conflict", "no-match", "multiple-matches", "not-found", "unavailable", "failed", "unknown"} {
		if !strings.Contains(Instructions, status) {
			t.Errorf("do not explain %s", status)
		}
	}
}

// The official client lists and calls over every transport at every version that it can be pinned to.
func TestOfficialClient(t *testing.T) {
	x := listen(t, HTTPOptions{})
	base := strings.TrimSuffix(x.listener.URL(), pathMCP)
	for _, version := range sdk.SupportedProtocolVersions() {
		for transport, open := range map[string]func(t *testing.T) sdk.Transport{
			"stdio, a process": func(t *testing.T) sdk.Transport {
				command := exec.Command(os.Args[0])
				command.Env = append(os.Environ(), "SERVE_STDIO=1")
				return &sdk.CommandTransport{Command: command}
			},
			"stdio, pipes":    pipes,
			"streamable HTTP": func(*testing.T) sdk.Transport { return &sdk.StreamableClientTransport{Endpoint: x.listener.URL()} },
			"SSE":             func(*testing.T) sdk.Transport { return &sdk.SSEClientTransport{Endpoint: base + pathSSE} },
		} {
			t.Run(version+" over "+transport, func(t *testing.T) {
				tryClient(t, open(t), version)
			})
		}
	}
}

func pipes(t *testing.T) sdk.Transport {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- New(newFakeGate(), fakeInfo).Stdio(t.Context(), inR, outW)
		outW.Close()
	}()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &sdk.IOTransport{Reader: outR, Writer: inW}
}

func tryClient(t *testing.T, transport sdk.Transport, version string) {
	progress := make(chan float64, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "official", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("speaks %s", got)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(fakeTools)-1 {
		t.Fatalf("lists %v, %v", list, err)
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"path": "é"}})
	if err != nil || result.IsError {
		t.Fatalf("call: %v, %v", result, err)
	}
	if got := result.StructuredContent.(map[string]any); got["arguments"] != `{"path":"é"}` || got["client"] != "official/1" {
		t.Errorf("the call came as %v", got)
	}
	if result, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read"}); err != nil || len(result.Content) != 3 || result.StructuredContent != nil {
		t.Errorf("file text: %v, %v", result, err)
	}
	if result, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "picture"}); err != nil || string(result.Content[1].(*sdk.ImageContent).Data) != "\x89PNG" {
		t.Errorf("picture: %v, %v", result, err)
	}
	if result, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "refuse"}); err != nil || !result.IsError {
		t.Errorf("refusal: %v, %v", result, err)
	}
	if _, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such"}); err == nil {
		t.Error("an unknown tool is no error")
	}
	params := &sdk.CallToolParams{Name: "progress"}
	params.SetProgressToken("p")
	if _, err = session.CallTool(t.Context(), params); err != nil {
		t.Errorf("progress: %v", err)
	}
	select {
	case <-progress:
	case <-time.After(20 * time.Second):
		t.Error("no progress came")
	}
}

// The server ends with the process that started it, and a pipe that breaks does not kill it.
func TestProcess(t *testing.T) {
	start := func(t *testing.T) (*exec.Cmd, io.WriteCloser, io.ReadCloser) {
		t.Helper()
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "SERVE_STDIO=1")
		in, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		return command, in, out
	}
	t.Run("one shot", func(t *testing.T) {
		command, in, out := start(t)
		io.WriteString(in, handshake+callLine("1", "read", "{}")+strings.TrimSpace(callLine("2", "echo", "{}")))
		in.Close()
		answers, err := io.ReadAll(out)
		if n := strings.Count(string(answers), "\n"); n != 3 || err != nil {
			t.Errorf("%d answers, %v", n, err)
		}
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("nothing to read", func(t *testing.T) {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "SERVE_STDIO=1")
		if out, err := command.Output(); err != nil || len(out) > 0 {
			t.Errorf("%q, %v", out, err)
		}
	})
	t.Run("nobody who reads", func(t *testing.T) {
		command, in, out := start(t)
		out.Close()
		io.WriteString(in, callLine("1", "read", "{}"))
		err := command.Wait()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
			t.Errorf("ended with %v", err)
		}
	})
}
