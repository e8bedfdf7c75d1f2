//go:build conformance

package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// What the suite asks for and this server has not, in the least form that does what the suite describes.

var madeTools = map[string]work{
	"test_embedded_resource":                     embed,
	"test_multiple_content_types":                mix,
	"test_tool_with_progress":                    tellProgress,
	"test_tool_with_logging":                     logSomething,
	"test_logging_tool":                          logSomething,
	"test_sampling":                              sample,
	"test_elicitation_sep1034_defaults":          askWithDefaults,
	"test_elicitation_sep1330_enums":             askWithEnums,
	"test_missing_capability":                    needSampling,
	"test_input_required_result_elicitation":     wants("user_name"),
	"test_input_required_result_sampling":        wants("capital_question"),
	"test_input_required_result_list_roots":      wants("client_roots"),
	"test_input_required_result_multiple_inputs": wants("user_name", "greeting", "client_roots"),
	"test_input_required_result_capabilities":    wantWhatCanBe,
	"test_input_required_result_multi_round":     twoRounds,
	"json_schema_2020_12_tool":                   func(*suiteCall) (any, *fault) { return saying("done"), nil },
}

var madePrompts = map[string]work{
	"test_simple_prompt": func(*suiteCall) (any, *fault) {
		return prompted(textBlock{"text", "This is a simple prompt for testing."}), nil
	},
	"test_prompt_with_arguments": func(x *suiteCall) (any, *fault) {
		return prompted(textBlock{"text", "Prompt with arguments: arg1='" + x.params.Arguments["arg1"] + "', arg2='" + x.params.Arguments["arg2"] + "'"}), nil
	},
	"test_prompt_with_embedded_resource": func(x *suiteCall) (any, *fault) {
		return prompted(resourceBlock{"resource", textOf(x.params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")},
			textBlock{"text", "Please process the embedded resource above."}), nil
	},
	"test_prompt_with_image": func(*suiteCall) (any, *fault) {
		return prompted(picture, textBlock{"text", "Please analyze the image above."}), nil
	},
	"test_input_required_result_prompt": func(x *suiteCall) (any, *fault) {
		if !x.has("user_context") {
			return x.require("user_context"), nil
		}
		return prompted(textBlock{"text", "With that context."}), nil
	},
}

// callResult is the result of a tool.
type callResult struct {
	Content []any `json:"content"`
}

func saying(text string) callResult { return callResult{[]any{textBlock{"text", text}}} }

func prompted(blocks ...any) any {
	var messages []promptMessage
	for _, b := range blocks {
		messages = append(messages, promptMessage{"user", b})
	}
	return struct {
		Messages []promptMessage `json:"messages"`
	}{messages}
}

func textOf(uri, mediaType, text string) content {
	return content{URI: uri, MediaType: mediaType, Text: &text}
}

// picture is a red pixel.
var picture = struct {
	Type      string `json:"type"`
	Data      string `json:"data"`
	MediaType string `json:"mimeType"`
}{"image", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "image/png"}

func embed(*suiteCall) (any, *fault) {
	return callResult{[]any{resourceBlock{"resource", textOf("test://embedded-resource", "text/plain", "This is an embedded resource content.")}}}, nil
}

func mix(*suiteCall) (any, *fault) {
	return callResult{[]any{
		textBlock{"text", "Multiple content types test:"}, picture,
		resourceBlock{"resource", textOf("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)},
	}}, nil
}

// logSomething logs to a client that wants it: since 2026-07-28 it says so in each request.
func logSomething(x *suiteCall) (any, *fault) {
	for _, data := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if !x.q.isModern() || x.params.Meta.LogLevel != "" {
			x.notify(string(mcp.MethodNotificationMessage), map[string]any{"level": "info", "data": data})
		}
	}
	return saying("done"), nil
}

func sample(x *suiteCall) (any, *fault) {
	if x.can.Sampling == nil {
		return nil, x.q.fault(mcp.INVALID_REQUEST, "The client has no model to sample")
	}
	return x.request(mcp.MethodSamplingCreateMessage, sampling(x.params.Arguments["prompt"]))
}

func sampling(text string) map[string]any {
	return map[string]any{"messages": []promptMessage{{"user", textBlock{"text", text}}}, "maxTokens": 100}
}

func askWithDefaults(x *suiteCall) (any, *fault) {
	return x.request(mcp.MethodElicitationCreate, form("Please review", `{
		"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}}`))
}

func askWithEnums(x *suiteCall) (any, *fault) {
	return x.request(mcp.MethodElicitationCreate, form("Please choose", `{
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}}`))
}

func form(message, properties string) map[string]any {
	return map[string]any{"message": message, "requestedSchema": json.RawMessage(`{"type":"object","properties":` + properties + `}`)}
}

func needSampling(x *suiteCall) (any, *fault) {
	if x.can.Sampling != nil {
		return saying("sampling is there"), nil
	}
	f := x.q.fault(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "The client must be able to sample")
	f.data = map[string]any{"requiredCapabilities": map[string]any{"sampling": struct{}{}}}
	return nil, f
}

// needed is the result that asks for input.
type needed struct {
	Requests map[string]input `json:"inputRequests"`
	State    string           `json:"requestState,omitempty"`
}

type input struct {
	Method mcp.MCPMethod `json:"method"`
	Params any           `json:"params"`
}

// inputs are all that is ever asked for.
var inputs = map[string]input{
	"user_name":        {mcp.MethodElicitationCreate, form("What is your name?", `{"name":{"type":"string"}}`)},
	"user_context":     {mcp.MethodElicitationCreate, form("What context should the prompt use?", `{"context":{"type":"string"}}`)},
	"step1":            {mcp.MethodElicitationCreate, form("Step 1: What is your name?", `{"name":{"type":"string"}}`)},
	"step2":            {mcp.MethodElicitationCreate, form("Step 2: What is your favorite color?", `{"color":{"type":"string"}}`)},
	"capital_question": {mcp.MethodSamplingCreateMessage, sampling("What is the capital of France?")},
	"greeting":         {mcp.MethodSamplingCreateMessage, sampling("Generate a greeting")},
	"client_roots":     {mcp.MethodListRoots, struct{}{}},
}

// require asks for input. With more than one request the state is needed too.
func (x *suiteCall) require(names ...string) needed {
	r := needed{Requests: map[string]input{}}
	for _, name := range names {
		r.Requests[name] = inputs[name]
	}
	if len(names) > 1 || strings.HasPrefix(names[0], "step") {
		r.State = signed(names[0])
	}
	return r
}

// wants is a tool that is done once all of that was answered.
func wants(names ...string) work {
	return func(x *suiteCall) (any, *fault) {
		for _, name := range names {
			if !x.has(name) {
				return x.require(names...), nil
			}
		}
		return saying("done"), nil
	}
}

func wantWhatCanBe(x *suiteCall) (any, *fault) {
	var names []string
	if canAsk(x.can) {
		names = append(names, "user_name")
	}
	if x.can.Sampling != nil {
		names = append(names, "greeting")
	}
	if len(names) == 0 {
		return saying("nothing can be asked"), nil
	}
	return wants(names...)(x)
}

func twoRounds(x *suiteCall) (any, *fault) {
	switch {
	case x.params.RequestState == signed("step2") && x.has("step2"):
		return saying("done"), nil
	case x.params.RequestState == signed("step1") && x.has("step1"):
		return x.require("step2"), nil
	}
	return x.require("step1"), nil
}

var stateKey = []byte(rand.Text())

func signed(step string) string {
	mac := hmac.New(sha256.New, stateKey)
	mac.Write([]byte(step))
	return step + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},` +
	`"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`
