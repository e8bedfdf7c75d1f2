package notes

import (
	"strings"
	"testing"
)

// The sample vault is what a person has: each case names the note that must come first.
func TestSampleVault(t *testing.T) {
	d := disk{"../testdata/vault"}
	cases := []struct{ query, first string }{
		{"garden sensor", "projects/garden-sensor.md"},
		{"花园传感器", "projects/garden-sensor.md"},
		{"rye bread", "recipes/rye-bread.md"},
		{"西红柿炒鸡蛋", "recipes/番茄炒蛋.md"},
		{"校准", "howto/校准步骤.md"},
		{"差序格局", "reading/乡土中国.md"},
		{"how do I flash the firmware of a sensor board?", "howto/flash-the-sensor-board.md"},
		{"请问阅读灯的色温怎么切换", "projects/阅读灯改造.md"},
		{"紅葉", "travel plans/京都メモ.md"},
		{"ハイキング", "travel plans/京都メモ.md"},
		{"GRÖSSE", "workshop/paint-colours.md"},
		{"l'arbre", "reading/queue.md"},
		{"KV缓存", "reference/glossary.md"},
		{"/dev/ttyUSB0", "howto/flash-the-sensor-board.md"},
		{"leverege points", "reading/thinking-in-systems.md"},
		{"keyhole bed", "inbox.md"},
		{"spirit level", "workshop/tool-inventory.md"},
		{"voles", "reference/drip-irrigation-thread.md"},
		{"tag:ideas shelf", "ideas/swap-shelf.md"},
		{`path:"travel plans/" lisbon`, "travel plans/lisbon-by-train.md"},
		{"#garden/community", "ideas/swap-shelf.md"},
		{"bird box camera", "ideas/bird-box-camera.md"},
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.query, "/", "|"), func(t *testing.T) {
			r := d.search(t, c.query)
			if len(r.Matches) == 0 || r.Matches[0].Path.String() != c.first {
				t.Fatalf("%q found %q (tier %s), want %s first", c.query, paths(r), r.Tier, c.first)
			}
			t.Logf("%d of %d: %q line %d", len(r.Matches), r.Total, r.Matches[0].Snippet, r.Matches[0].Line)
		})
	}
	for _, query := range []string{"physiotherapist", "现金", "R. is unhappy"} {
		for _, p := range paths(d.search(t, query)) {
			if strings.HasPrefix(p, "people/") {
				t.Errorf("%q shows the private note %s", query, p)
			}
		}
	}
}
