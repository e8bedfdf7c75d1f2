package console

import (
	"runtime"

	"writ/policy"
)

// scope shows what is allowed.
func (v *visit) scope() error {
	limits := v.Policy.Limits()
	data := struct {
		Roots    []policy.Root
		Zones    policy.Zones
		Limits   policy.Limits
		Notes    policy.Visibility
		Redact   bool
		Audit    policy.Audit
		Checks   []policy.Check
		Tools    []string
		Sandbox  string
		Platform string
		Seconds  string
	}{
		v.Policy.Roots(), v.Policy.Zones(), limits, v.Policy.Visibility(), v.Policy.Redact(), v.Policy.Audit(), v.Policy.Checks(),
		v.Tools, "", runtime.GOOS + "/" + runtime.GOARCH, limits.CallTime.String(),
	}
	if v.Sandbox != nil {
		data.Sandbox = v.Sandbox()
	}
	return v.render("scope", page{Title: "scope.title", Section: "scope", Data: data})
}
