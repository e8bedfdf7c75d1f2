// Package contract is what a tool promises: its name, what it says of itself, its parameters, its effect and the codes
// that it can answer with. Schemas, annotations and documentation all come from that one declaration.
//
// A call's arguments are checked against it in one strict pass over the bytes as they were received, so that what is
// validated is what is used.
package contract

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"writ/envelope"
)

// Contract is what a tool promises.
type Contract struct {
	Name   string // verb_object
	Title  string // for people
	Doc    string // for the model: what it does, when to use it and when not, an example, what comes back, cost, effect
	Effect Effect
	Core   bool // part of the default profile
	Bulk   bool // answers with file text in blocks of its own and declares no output schema
	Codes  []envelope.Code

	input  *Schema
	output *Schema // the tool's own fields

	compileInput  func() (*jsonschema.Schema, error)
	compileOutput func() (*jsonschema.Schema, error)
}

// Effect is what a tool can do to the disk. The zero Effect reads.
type Effect struct {
	Writes     bool
	Prepares   bool // of no use where nothing can ever be written
	Runs       bool // runs programs, and is of no use where none is declared
	Destroys   bool // can make text go away
	Idempotent bool // repeating a write that succeeded does nothing more
}

// Bind completes the contract with the Go types of the tool's input and output.
func (c *Contract) Bind(in, out reflect.Type) *Contract {
	c.input, c.output = schemaOf(in), schemaOf(out)
	c.input.Closed = true
	closeNested(c.input)
	c.compileInput = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(c.Name, c.InputSchema()) })
	c.compileOutput = sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(c.Name, c.FullOutputSchema()) })
	return c
}

func closeNested(s *Schema) {
	for _, p := range s.Properties {
		if p.Items != nil && p.Items.Type == "object" {
			p.Items.Closed = true
		}
	}
}

// InputSchema is the JSON Schema of the arguments.
func (c *Contract) InputSchema() []byte { return c.input.AppendJSON(nil) }

// Input is the schema of the arguments, to be looked at and not to be changed.
func (c *Contract) Input() *Schema { return c.input }

// OutputSchema is the JSON Schema of the answer as it is published: which fields every answer has, and the types of the
// tool's own. The common fields are the same for every tool, so that the server's instructions describe them once; what
// only a refusal carries is explained by its message. It is nil for a bulk reader.
func (c *Contract) OutputSchema() []byte {
	if c.Bulk {
		return nil
	}
	outline := Schema{Type: "object", Required: c.answer().Required}
	for _, p := range c.output.Properties {
		if p.Aside {
			continue
		}
		kind := &Schema{Type: p.Type, Nullable: p.Nullable}
		if p.Items != nil {
			kind.Items = &Schema{Type: p.Items.Type}
		}
		outline.Properties = append(outline.Properties, Property{p.Name, kind})
	}
	return outline.AppendJSON(nil)
}

// FullOutputSchema is the JSON Schema that every answer is held to.
func (c *Contract) FullOutputSchema() []byte { return c.answer().AppendJSON(nil) }

// Codes of refusals that any tool can give, whatever its own contract says.
var commonCodes = []envelope.Code{
	envelope.Required, envelope.UnknownParameter, envelope.Type, envelope.Length, envelope.Range, envelope.ItemCount,
	envelope.DuplicateParameter, envelope.BadEncoding, envelope.RetryStopped, envelope.RateLimited, envelope.Busy,
	envelope.TimedOut, envelope.IO, envelope.Internal,
}

// AllCodes lists the codes that the tool can answer with: its own, then those of every tool.
func (c *Contract) AllCodes() []envelope.Code { return append(slices.Clone(c.Codes), commonCodes...) }

// answer is the schema of the whole envelope of this tool.
func (c *Contract) answer() *Schema {
	text := func(words ...string) *Schema { return &Schema{Type: "string", Enum: words} }
	item := func(required ...string) *Schema {
		s := &Schema{Type: "object", Required: required}
		for _, name := range required {
			s.Properties = append(s.Properties, Property{name, text()})
		}
		return s
	}
	var statuses []string
	for _, status := range envelope.Statuses {
		statuses = append(statuses, string(status))
	}
	s := &Schema{Type: "object"}
	add := func(name string, p *Schema) { s.Properties = append(s.Properties, Property{name, p}) }
	add("request_id", text())
	add("status", text(statuses...))
	add("retry_safe", &Schema{Type: "boolean"})
	add("next", text("none", "reread", "fix-arguments", "add-context", "ask-user", "wait", "check-outcome", "stop"))
	add("errors", &Schema{Type: "array", Items: item("code", "stage", "message")})
	add("warnings", &Schema{Type: "array", Items: item("code", "message")})
	add("normalizations", &Schema{Type: "array", Items: item("parameter", "rule")})
	if c.Effect.Writes {
		add("changed", text("yes", "no", "unknown"))
	}
	for _, p := range s.Properties {
		s.Required = append(s.Required, p.Name)
	}
	s.Properties = append(s.Properties, c.output.Properties...)
	return s
}

func compile(name string, schema []byte) (*jsonschema.Schema, error) {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, v); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	s, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	return s, nil
}

// Compile compiles both schemas, and returns what is wrong with them. They are compiled at their first use otherwise.
func (c *Contract) Compile() error {
	if _, err := c.compileInput(); err != nil {
		return err
	}
	_, err := c.compileOutput()
	return err
}

// Keep returns what in the answer, a JSON object, breaks the contract; nil if it keeps it.
func (c *Contract) Keep(answer []byte) error {
	schema, err := c.compileOutput()
	if err != nil {
		return err
	}
	v, err := parseStrict(answer)
	if err != nil {
		return err
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("the answer of %s breaks its schema: %w", c.Name, err)
	}
	return nil
}

// TextParameters lists the parameters that are strings.
func (c *Contract) TextParameters() []string {
	var names []string
	for _, p := range c.input.Properties {
		if p.Type == "string" {
			names = append(names, p.Name)
		}
	}
	return names
}

// Parameters describes each parameter in a line, for people.
func (c *Contract) Parameters() []string {
	lines := make([]string, 0, len(c.input.Properties))
	for _, p := range c.input.Properties {
		need := "optional "
		if slices.Contains(c.input.Required, p.Name) {
			need = ""
		}
		lines = append(lines, fmt.Sprintf("%-17s %s%s: %s", p.Name, need, p.Type, p.Description))
	}
	return lines
}
