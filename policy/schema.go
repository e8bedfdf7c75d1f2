package policy

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a policy file, for editors. [Parse] refuses all that it refuses, and
// beyond it what a schema can't say: globs and encodings that are none, names given twice, sizes out of range.
func Schema() []byte { return append([]byte(nil), schema...) }
