package client

import (
	"fmt"
	"strconv"

	"writ/contract"
	"writ/envelope"
)

// Definitions lists tools in the form that an API takes them as the tools of a request:
//
//	openai     the Responses API. Not strict: strict mode knows no optional parameter, and ours have meanings of their own
//	anthropic  the Messages API
//	gemini     generateContent: one tool of many declarations, in its subset of OpenAPI's schemas
//	mcp        the answer to tools/list; mcp writes one definition
func Definitions(format string, tools []*contract.Contract, mcp func(*contract.Contract) []byte) ([]byte, error) {
	var write definition
	open, end := "[", "]"
	switch format {
	case "openai":
		write = appendOpenAI
	case "anthropic":
		write = appendAnthropic
	case "gemini":
		write, open, end = appendGemini, `[{"functionDeclarations":[`, "]}]"
	case "mcp":
		write, open, end = func(b []byte, c *contract.Contract) []byte { return append(b, mcp(c)...) }, `{"tools":[`, "]}"
	default:
		return nil, fmt.Errorf("there is no format %s; known are openai, anthropic, gemini and mcp", strconv.Quote(format))
	}
	b := []byte(open)
	for i, c := range tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(b, c)
	}
	return append(b, end...), nil
}

// definition appends a tool.
type definition func(b []byte, c *contract.Contract) []byte

func appendOpenAI(b []byte, c *contract.Contract) []byte {
	b = appendNamed(append(b, `{"type":"function",`...), c)
	b = append(append(b, `,"parameters":`...), c.InputSchema()...)
	return append(b, `,"strict":false}`...)
}

func appendAnthropic(b []byte, c *contract.Contract) []byte {
	b = appendNamed(append(b, '{'), c)
	return append(append(append(b, `,"input_schema":`...), c.InputSchema()...), '}')
}

// appendGemini leaves out what Gemini does not take: parameters that are an object of nothing, and
// additionalProperties.
func appendGemini(b []byte, c *contract.Contract) []byte {
	b = appendNamed(append(b, '{'), c)
	if s := c.Input(); len(s.Properties) > 0 {
		b = opened(s).AppendJSON(append(b, `,"parameters":`...))
	}
	return append(b, '}')
}

func appendNamed(b []byte, c *contract.Contract) []byte {
	b = envelope.AppendString(append(b, `"name":`...), c.Name)
	return envelope.AppendString(append(b, `,"description":`...), c.Doc)
}

// opened is a copy of the schema that does not say that it takes no other properties.
func opened(s *contract.Schema) *contract.Schema {
	if s == nil {
		return nil
	}
	o := *s
	o.Closed, o.Items, o.Properties = false, opened(s.Items), nil
	for _, p := range s.Properties {
		o.Properties = append(o.Properties, contract.Property{Name: p.Name, Schema: opened(p.Schema)})
	}
	return &o
}
