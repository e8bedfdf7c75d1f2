package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"writ/envelope"
)

// Into fills the struct that in points to, whose type is the one that the contract was bound to. Paths, versions and
// globs are parsed here, once, and their errors are those of [ParsePath], [ParseVersion] and [ParseGlob].
func (a Args) Into(in any) error {
	return fill(reflect.ValueOf(in).Elem(), a.values)
}

func fill(target reflect.Value, values map[string]any) error {
	t := target.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			if err := fill(target.Field(i), values); err != nil {
				return err
			}
			continue
		}
		v, given := values[name]
		if !given {
			if f.Tag.Get("default") == "true" {
				target.Field(i).SetBool(true)
			}
			continue
		}
		if err := set(target.Field(i), v); err != nil {
			return about(err, name)
		}
	}
	return nil
}

// about adds the name of the parameter to what is told of it.
func about(err error, name string) error {
	e, ok := err.(*envelope.Error)
	if !ok || e.Details["parameter"] != nil {
		return err
	}
	return e.With("parameter", name)
}

func set(target reflect.Value, v any) error {
	switch target := target.Addr().Interface().(type) {
	case *Path:
		return parseInto(target, v, ParsePath)
	case *Version:
		return parseInto(target, v, ParseVersion)
	case *Glob:
		return parseInto(target, v, ParseGlob)
	}
	switch v := v.(type) {
	case string:
		target.SetString(v)
	case bool:
		target.SetBool(v)
	case json.Number:
		target.SetInt(clamp(v))
	case []any:
		return setList(target, v)
	case map[string]any:
		return fill(target, v)
	default:
		return fmt.Errorf("contract: a %T does not fit into a %s", v, target.Type())
	}
	return nil
}

func setList(target reflect.Value, list []any) error {
	target.Set(reflect.MakeSlice(target.Type(), len(list), len(list)))
	for i, v := range list {
		if err := set(target.Index(i), v); err != nil {
			return err
		}
	}
	return nil
}

func parseInto[T any](target *T, v any, parse func(string) (T, error)) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("contract: a %T is no text", v)
	}
	parsed, err := parse(text)
	if err != nil {
		return err
	}
	*target = parsed
	return nil
}

// clamp returns the integer that n is, or the nearest one that an int holds: nothing in the contract counts so far.
func clamp(n json.Number) int64 {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return 0
	}
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	switch {
	case whole.IsInt64():
		return whole.Int64()
	case whole.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Text returns the string that was given for the parameter, or "".
func (a Args) Text(name string) string {
	s, _ := a.values[name].(string)
	return s
}

// Values are the arguments by name, for the record. They must not be changed.
func (a Args) Values() map[string]any { return a.values }
