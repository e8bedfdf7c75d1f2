package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	library "github.com/mark3labs/mcp-go/server"

	"writ/contract"
)

// serveSSE holds the stream of a client of the first protocol version.
func (l *Listener) serveSSE(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		notAllowed(w, http.MethodGet)
		return
	}
	l.streams.Add(1)
	defer l.streams.Add(-1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(l.ending, cancel)()
	id, stream := l.newStream(ctx)
	l.sseStreams.Store(id, stream)
	defer l.sseStreams.Delete(id)
	l.sse.ServeHTTP(w, r.WithContext(context.WithValue(ctx, sseID{}, id)))
}

// serveMessage takes what such a client sends; the answer goes into its stream.
func (l *Listener) serveMessage(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		notAllowed(w, http.MethodPost)
		return
	}
	body, ok := l.readBody(w, r)
	if !ok {
		return
	}
	q, f := parse(body)
	if f == nil {
		f = q.checkVersion()
	}
	if f == nil && !isExact(q.id) {
		f = q.fault(mcp.INVALID_REQUEST, inexactID)
	}
	id := r.URL.Query().Get("sessionId")
	stream, ok := l.streamOf(r.Context(), id)
	switch {
	case f != nil:
		writeFault(w, http.StatusBadRequest, "", f)
	case !ok:
		writeFault(w, http.StatusNotFound, "", q.fault(mcp.INVALID_PARAMS, "There is no such session"))
	case q.isResponse(): // to the library's keep-alive ping
		w.WriteHeader(http.StatusAccepted)
	case l.server.offers(q) && !q.isNotification():
		l.offerOverSSE(w, id, stream, q)
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		l.sse.ServeHTTP(w, r)
	}
}

// streamOf returns the stream of that id, if it is the caller's own.
func (l *Listener) streamOf(ctx context.Context, id string) (sseClient, bool) {
	found, _ := l.sseStreams.Load(id)
	stream, ok := found.(sseClient)
	return stream, ok && stream.caller == callerName(ctx)
}

type callsKey struct{}

// callsOf returns the calls of the listener that a request came through.
func callsOf(ctx context.Context) *calls {
	c, _ := ctx.Value(callsKey{}).(*calls)
	return c
}

// clientOf returns what the client of an SSE session called itself in its handshake.
func clientOf(ctx context.Context) string {
	session, ok := library.ClientSessionFromContext(ctx).(library.SessionWithClientInfo)
	if !ok {
		return ""
	}
	info := session.GetClientInfo()
	return nameOf(info.Name, info.Version)
}

// handleForLibrary is the tools' handler for the transport that the library serves alone, SSE.
func (s *Server) handleForLibrary(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	open := callsOf(ctx)
	if open == nil {
		return nil, errors.New("tools are not called this way")
	}
	run, err := open.begin(ctx, "")
	if err != nil {
		return nil, err
	}
	defer run.done()
	if !run.wait() {
		return nil, ctx.Err()
	}
	c := Call{Caller: callerName(ctx), Client: clientOf(ctx), Tool: r.Params.Name, Arguments: r.Params.RawArguments}
	if !s.gate.Has(c.Caller, c.Tool) {
		return nil, fmt.Errorf("unknown tool: %s", contract.Quote(c.Tool))
	}
	if r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil {
		p := s.libraryProgress(ctx, r.Params.Meta.ProgressToken)
		defer p.end()
		c.Progress = p.tell
	}
	a, f := s.ask(run.ctx, c)
	if f != nil {
		return nil, errors.New(f.message)
	}
	return a.forLibrary(), nil
}

// forLibrary returns the answer as the library sends it. Its bytes are copied: the library keeps them longer than the
// buffers live.
func (a *answer) forLibrary() *mcp.CallToolResult {
	result := &mcp.CallToolResult{
		Content:              []mcp.Content{mcp.NewTextContent(string(a.envelopeJSON))},
		RawStructuredContent: json.RawMessage(string(a.structured)),
		IsError:              a.envelope.IsError(),
	}
	if a.structured == nil {
		result.RawStructuredContent = nil
	}
	if media := a.envelope.Media; media != nil {
		data := base64.StdEncoding.EncodeToString(media.Data)
		if mediaBlock(media) == "audio" {
			result.Content = append(result.Content, mcp.NewAudioContent(data, media.Type))
		} else {
			result.Content = append(result.Content, mcp.NewImageContent(data, media.Type))
		}
	}
	for _, text := range a.envelope.Texts {
		result.Content = append(result.Content, mcp.NewTextContent(text))
	}
	a.release()
	return result
}

func (s *Server) libraryProgress(ctx context.Context, token any) *progress {
	return &progress{send: func(progress, total float64, message string) {
		params := map[string]any{"progressToken": token, "progress": progress}
		if total > 0 {
			params["total"] = total
		}
		if message != "" {
			params["message"] = message
		}
		// Lost where the client does not keep up; progress is a courtesy.
		_ = s.mcp.SendNotificationToClient(ctx, "notifications/progress", params)
	}}
}
