package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"writ/envelope"
)

// Args are arguments that keep the contract: the values as they were sent, but for the conversions it declares.
type Args struct {
	values         map[string]any
	Normalizations []envelope.Normalization
}

// Check reads raw, a JSON object as it was received (or nothing, which means no arguments), in one strict pass, applies
// the declared conversions and holds the result against the input schema. Its error is an [envelope.Refusals] or an
// *envelope.Error.
func (c *Contract) Check(raw json.RawMessage) (Args, error) {
	values, err := c.object(raw)
	if err != nil {
		return Args{}, err
	}
	args := Args{values: values}
	c.convert(&args)
	schema, err := c.compileInput()
	if err != nil {
		return Args{}, err
	}
	err = schema.Validate(values)
	if err == nil {
		return args, nil
	}
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return Args{}, fmt.Errorf("arguments of %s: %w", c.Name, err)
	}
	return Args{}, c.refusals(broken)
}

func (c *Contract) object(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	v, err := parseStrict(raw)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	}
	return nil, envelope.Errorf(envelope.Type, "The arguments are %s, but must be an object with %s.", kindOf(v), c.known())
}

// convert applies the declared conversions: null for an optional parameter, a string that is exactly a decimal integer,
// and a string that is exactly a JSON array. Each is reported.
func (c *Contract) convert(args *Args) {
	report := func(name, rule string) {
		args.Normalizations = append(args.Normalizations, envelope.Normalization{Parameter: name, Rule: rule})
	}
	for _, p := range c.input.Properties {
		v, given := args.values[p.Name]
		if !given {
			continue
		}
		if v == nil {
			delete(args.values, p.Name) // a required one is then missing, which is what it means
			report(p.Name, "null-as-absent")
			continue
		}
		text, ok := v.(string)
		if !ok {
			continue
		}
		switch {
		case p.Type == "integer" && isInteger(text):
			args.values[p.Name] = json.Number(text)
			report(p.Name, "integer-from-string")
		case p.Type == "array" && strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
			if list, err := parseStrict([]byte(text)); err == nil {
				args.values[p.Name] = list
				report(p.Name, "array-from-string")
			}
		}
	}
}

func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' || s == "-0" {
		return false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Canonical is the same for the same arguments, in whatever order and spelling they were sent.
func (a Args) Canonical() []byte { return envelope.AppendValue(nil, a.values) }

// refusals turns what the validator found into sentences for a model, one for each rule that was broken.
func (c *Contract) refusals(broken *jsonschema.ValidationError) error {
	var list envelope.Refusals
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 {
			list = append(list, c.refusal(e.InstanceLocation, e.ErrorKind)...)
		}
	}
	walk(broken)
	slices.SortStableFunc(list, func(a, b *envelope.Error) int { return strings.Compare(a.Message, b.Message) })
	return list
}

func (c *Contract) refusal(at []string, rule jsonschema.ErrorKind) envelope.Refusals {
	refuse := func(code envelope.Code, expected, format string, args ...any) *envelope.Error {
		e := envelope.Errorf(code, format, args...)
		e.Details = map[string]any{"pointer": pointer(at), "rule": keyword(rule), "expected": expected}
		return e
	}
	where := place(at)
	var list envelope.Refusals
	switch rule := rule.(type) {
	case *kind.Required:
		for _, name := range rule.Missing {
			list = append(list, refuse(envelope.Required, c.expected(append(at, name)),
				"The parameter %s is missing%s. %s takes %s.", Quote(name), within(at), c.Name, c.known()))
		}
	case *kind.AdditionalProperties:
		for _, name := range rule.Properties {
			list = append(list, refuse(envelope.UnknownParameter, c.known(),
				"There is no parameter %s%s.%s %s takes %s.", Quote(name), within(at), c.nearest(name), c.Name, c.known()))
		}
	case *kind.Type:
		list = append(list, refuse(envelope.Type, strings.Join(rule.Want, " or "),
			"%s must be %s, but is %s.", where, withArticle(rule.Want), withArticle([]string{rule.Got})))
	case *kind.MinLength:
		empty := ""
		if rule.Got == 0 {
			empty = " It is empty."
		}
		list = append(list, refuse(envelope.Length, fmt.Sprintf("at least %d characters", rule.Want),
			"%s must have at least %d characters, but has %d.%s", where, rule.Want, rule.Got, empty))
	case *kind.MaxLength:
		list = append(list, refuse(envelope.Length, fmt.Sprintf("at most %d characters", rule.Want),
			"%s must have at most %d characters, but has %d.", where, rule.Want, rule.Got))
	case *kind.Minimum:
		list = append(list, refuse(envelope.Range, "at least "+rule.Want.RatString(), "%s must be at least %s.", where, rule.Want.RatString()))
	case *kind.Maximum:
		list = append(list, refuse(envelope.Range, "at most "+rule.Want.RatString(), "%s must be at most %s.", where, rule.Want.RatString()))
	case *kind.MinItems:
		list = append(list, refuse(envelope.ItemCount, fmt.Sprintf("at least %d items", rule.Want),
			"%s must have at least %d items, but has %d.", where, rule.Want, rule.Got))
	case *kind.MaxItems:
		list = append(list, refuse(envelope.ItemCount, fmt.Sprintf("at most %d items", rule.Want),
			"%s must have at most %d items, but has %d.", where, rule.Want, rule.Got))
	case *kind.Enum:
		want := string(envelope.AppendValue(nil, rule.Want))
		list = append(list, refuse(envelope.Range, want, "%s must be one of %s.", where, want))
	default:
		list = append(list, refuse(envelope.Type, "", "%s is not right: %s.", where, rule.LocalizedString(english())))
	}
	return list
}

var english = sync.OnceValue(func() *message.Printer { return message.NewPrinter(language.English) })

func keyword(rule jsonschema.ErrorKind) string {
	path := rule.KeywordPath()
	if len(path) == 0 {
		return ""
	}
	return path[0]
}

// known lists the parameters for a message, the required ones first.
func (c *Contract) known() string {
	names := slices.Clone(c.input.Required)
	for _, p := range c.input.Properties {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name+" (optional)")
		}
	}
	if len(names) == 0 {
		return "no parameters"
	}
	return strings.Join(names, ", ")
}

// nearest names the parameter that was probably meant, or is empty.
func (c *Contract) nearest(name string) string {
	best, least := "", 4
	for _, p := range c.input.Properties {
		distance := levenshtein.ComputeDistance(strings.ToLower(name), p.Name)
		if strings.Contains(name, p.Name) || strings.Contains(p.Name, name) {
			distance = min(distance, 1)
		}
		if distance < least {
			best, least = p.Name, distance
		}
	}
	if best == "" {
		return ""
	}
	return " Did you mean " + Quote(best) + "?"
}

func (c *Contract) expected(at []string) string {
	s := c.input
	for _, name := range at {
		if s == nil {
			return ""
		}
		if s.Type == "array" {
			s = s.Items
			continue
		}
		s = s.property(name)
	}
	if s == nil {
		return ""
	}
	return s.Type
}

func pointer(at []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + escape.Replace(name))
	}
	return b.String()
}

func place(at []string) string {
	if len(at) == 0 {
		return "The arguments"
	}
	if len(at) == 1 {
		return "The parameter " + Quote(at[0])
	}
	return "The value at " + pointer(at)
}

func within(at []string) string {
	if len(at) == 0 {
		return ""
	}
	return " in " + pointer(at)
}

func withArticle(types []string) string {
	var names []string
	for _, t := range types {
		switch t {
		case "null":
		case "array", "object", "integer":
			t = "an " + t
		default:
			t = "a " + t
		}
		names = append(names, t)
	}
	return strings.Join(names, " or ")
}

func kindOf(v any) string {
	switch v.(type) {
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "true or false"
	}
	return "a number"
}
