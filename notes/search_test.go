package notes

import (
	"slices"
	"strings"
	"testing"
)

// Each case searches a vault of a few notes. want is what must be found, in any order; "" finds nothing.
func TestSearchFinds(t *testing.T) {
	cases := []struct {
		name  string
		files map[string]string
		query string
		want  string
		tier  Tier
	}{
		{"a hyphenated word", map[string]string{"n.md": "We use ask-review here.\n", "o.md": "ask for a review\n"}, "ask-review", "n.md", TierExact},
		{"an order number", map[string]string{"n.md": "Order BENCH-100821.\n"}, "BENCH-100821", "n.md", TierExact},
		{"a word after a hyphen", map[string]string{"n.md": "Order BENCH-100821.\n"}, "-100821", "n.md", TierExact},
		{"another order number", map[string]string{"n.md": "Order BENCH-100821.\n"}, "BENCH-100822", "", TierNone},
		{"an apostrophe", map[string]string{"n.md": "Please don't use agents here\n"}, "don't use agents", "n.md", TierExact},
		{"a straight apostrophe for a curly one", map[string]string{"n.md": "L’arbre d’automne\n"}, "l'arbre", "n.md", TierExact},
		{"a curly apostrophe for a straight one", map[string]string{"n.md": "l'arbre\n"}, "L’arbre", "n.md", TierExact},
		{"the word behind an apostrophe", map[string]string{"n.md": "L’arbre d’automne\n"}, "automne", "n.md", TierExact},
		{"double colons", map[string]string{"n.md": "grammar::fa (v2)\n", "o.md": "grammar of fa\n"}, "grammar::fa", "n.md", TierExact},
		{"a key before double colons", map[string]string{"n.md": "use path::join\n"}, "path::join", "n.md", TierExact},
		{"plus signs", map[string]string{"n.md": "written in C++ then\n", "o.md": "the letter c\n"}, "C++", "n.md", TierExact},
		{"a sharp", map[string]string{"n.md": "written in C# then\n", "o.md": "the letter c\n"}, "C#", "n.md", TierExact},
		{"dots", map[string]string{"n.md": "call fs.readFile first\n", "o.md": "fs and readFile\n"}, "fs.readFile", "n.md", TierExact},
		{"a leading dot", map[string]string{"n.md": "see .env for it\n", "o.md": "env\n"}, ".env", "n.md", TierExact},
		{"an underscore", map[string]string{"n.md": "set max_connections\n"}, "connections", "n.md", TierExact},
		{"a quote that nothing closes", map[string]string{"n.md": "a \"quoted\" word\n"}, "\"quoted", "n.md", TierExact},
		{"a star inside a word", map[string]string{"n.md": "a*b\n"}, "a*b", "n.md", TierExact},
		{"brackets", map[string]string{"n.md": "version (v2)\n"}, "(v2)", "n.md", TierExact},
		{"an option", map[string]string{"n.md": "run with --pre=sh\n", "o.md": "pre sh\n"}, "--pre=sh", "n.md", TierExact},
		{"a question mark", map[string]string{"n.md": "the sensor\n"}, "sensor?", "n.md", TierExact},

		{"an operator that is no word of the note", map[string]string{"n.md": "tier1-test with unicode\n", "o.md": "unicode\n"}, "tier1-test AND unicode", "n.md", TierExact},
		{"the same without the operator", map[string]string{"n.md": "tier1-test with unicode\n"}, "tier1-test unicode", "n.md", TierExact},
		{"an operator at the end", map[string]string{"n.md": "an apple\n"}, "apple AND", "n.md", TierExact},
		{"an operator that is a word of a note", map[string]string{"n.md": "this and that\n", "o.md": "this, that\n"}, "this AND that", "n.md", TierExact},
		{"an operator alone", map[string]string{"n.md": "this or that\n"}, "OR", "n.md", TierExact},
		{"an operator with a bracket", map[string]string{"n.md": "x near y\n"}, "NEAR(", "n.md", TierExact},
		{"a shouted sentence", map[string]string{"n.md": "Rule: DO NOT USE FIND /\n"}, "DO NOT USE FIND /", "n.md", TierExact},

		{"hiragana inside a run", map[string]string{"n.md": "今日は成語しりとりをした。サンドボックス修正テスト\n"}, "しりとり", "n.md", TierExact},
		{"katakana inside a run", map[string]string{"n.md": "サンドボックス修正テスト\n"}, "ボックス", "n.md", TierExact},
		{"katakana at the end of a run", map[string]string{"n.md": "サンドボックス修正テスト\n"}, "テスト", "n.md", TierExact},
		{"half-width katakana", map[string]string{"n.md": "ｻﾝﾄﾞﾎﾞｯｸｽ\n"}, "サンドボックス", "n.md", TierExact},
		{"decomposed kana", map[string]string{"n.md": "サンド" + "\n"}, "サンド", "n.md", TierExact},
		{"another voicing is another word", map[string]string{"n.md": "かき\n"}, "がき", "", TierNone},
		{"Hangul inside a word", map[string]string{"n.md": "오늘 끝말잇기게임을 했다\n"}, "끝말잇기", "n.md", TierExact},
		{"decomposed Hangul", map[string]string{"n.md": "\u1112\u1161\u11ab\u1100\u1173\u11af\n"}, "한글", "n.md", TierExact},
		{"two Chinese characters inside a run", map[string]string{"n.md": "重跑后50条悬空引用清零\n", "o.md": "空悬\n"}, "悬空", "n.md", TierExact},
		{"one Chinese character inside a run", map[string]string{"n.md": "重跑后悬空引用\n"}, "引", "n.md", TierExact},
		{"the last Chinese character of a run", map[string]string{"n.md": "重跑后悬空引用\n"}, "用", "n.md", TierExact},
		{"four Chinese characters side by side", map[string]string{"n.md": "关于数据治理的方案\n", "o.md": "数据和治理\n"}, "数据治理", "n.md", TierExact},
		{"no Chinese word across punctuation", map[string]string{"n.md": "先悬，空了\n"}, "悬空", "", TierNone},
		{"a rare Chinese character", map[string]string{"n.md": "𠮷野家\n"}, "𠮷野", "n.md", TierExact},
		{"a Latin word glued to Chinese", map[string]string{"n.md": "重跑gen-itgc后50条\n"}, "itgc", "n.md", TierExact},
		{"a name glued to Chinese", map[string]string{"n.md": "重跑gen-itgc后50条\n"}, "gen-itgc", "n.md", TierExact},
		{"Chinese and Latin glued in the query", map[string]string{"n.md": "关于 KV 缓存的笔记\n"}, "KV缓存", "n.md", TierExact},
		{"Thai inside a run", map[string]string{"n.md": "ผมชอบอาหารไทยมาก\n"}, "อาหาร", "n.md", TierExact},

		{"sharp s for ss", map[string]string{"n.md": "Groesse? Nein: Größe\n"}, "GRÖSSE", "n.md", TierExact},
		{"ss for sharp s, no umlaut", map[string]string{"n.md": "Die Größe\n"}, "grosse", "n.md", TierExact},
		{"accents left out", map[string]string{"n.md": "mon résumé\n"}, "resume", "n.md", TierExact},
		{"accents decomposed", map[string]string{"n.md": "mon re\u0301sume\u0301\n"}, "résumé", "n.md", TierExact},
		{"accents in the query alone", map[string]string{"n.md": "my resume\n"}, "résumé", "n.md", TierExact},
		{"full-width letters", map[string]string{"n.md": "使用ＡＰＩ\n"}, "api", "n.md", TierExact},
		{"Greek final sigma", map[string]string{"n.md": "ΟΔΟΣ\n"}, "οδος", "n.md", TierExact},
		{"a soft hyphen in the text", map[string]string{"n.md": "gar\u00adden\n"}, "garden", "n.md", TierExact},
		{"a non-breaking hyphen in the text", map[string]string{"n.md": "ask\u2011review\n"}, "ask-review", "n.md", TierExact},

		{"a word of front matter alone", map[string]string{"n.md": "---\ntype: litnote\n---\n\n# C\n"}, "litnote", "n.md", TierExact},
		{"a word of broken front matter", map[string]string{"n.md": "---\ntitle: [unclosed\n---\nBody\n"}, "unclosed", "n.md", TierExact},
		{"a tag as a word", map[string]string{"n.md": "---\ntags:\n  - deep-work\n---\ntext\n", "i.md": "body #deep-work here\n", "x.md": "nothing\n"}, "deep-work", "n.md i.md", TierExact},
		{"a tag", map[string]string{"n.md": "---\ntags: [deep-work]\n---\ntext\n", "i.md": "body #deep-work here\n", "x.md": "deep-work\n"}, "#deep-work", "n.md i.md", TierExact},
		{"a tag that no note has, as words", map[string]string{"x.md": "deep-work\n"}, "#deep-work", "x.md", TierAll},
		{"a nested tag", map[string]string{"n.md": "---\ntags: [research/ai]\n---\n", "o.md": "research\n"}, "research/ai", "n.md", TierExact},
		{"tags above a nested tag", map[string]string{"n.md": "---\ntags: [research/ai]\n---\n", "o.md": "#researcher\n"}, "tag:research", "n.md", TierExact},
		{"a number is no tag", map[string]string{"n.md": "see #123\n"}, "#123", "n.md", TierExact},
		{"a title that only escapes spell", map[string]string{"n.md": "---\ntitle: \"caf\\u00e9\"\n---\ntext\n"}, "cafe", "n.md", TierExact},
		{"a file's name", map[string]string{"garden/moisture.md": "text\n"}, "moisture", "garden/moisture.md", TierExact},
		{"not by the extension", map[string]string{"n.md": "text\n"}, "md", "", TierNone},

		{"a phrase", map[string]string{"n.md": "the garden sensor works\n", "o.md": "sensor of the garden\n"}, `"garden sensor"`, "n.md", TierExact},
		{"a phrase across a line end", map[string]string{"n.md": "the garden\nsensor works\n"}, `"garden sensor"`, "n.md", TierExact},
		{"a phrase in curly quotes", map[string]string{"n.md": "the garden sensor\n", "o.md": "sensor, garden\n"}, "“garden sensor”", "n.md", TierExact},
		{"a phrase in corner brackets", map[string]string{"n.md": "查找花园传感器\n", "o.md": "查找传感器花园\n"}, "查找「花园传感器」", "n.md", TierExact},
		{"a phrase does not cut words", map[string]string{"n.md": "kindergarden sensors\n"}, `"garden sensor"`, "", TierNone},
		{"a prefix", map[string]string{"n.md": "sensors\n", "o.md": "censor\n"}, "sens*", "n.md", TierExact},
		{"a prefix of a name", map[string]string{"n.md": "gen-itgc\n", "o.md": "gen other\n"}, "gen-it*", "n.md", TierExact},
		{"a prefix of one letter is a word", map[string]string{"n.md": "sensors\n"}, "s*", "", TierNone},
		{"no word inside a word", map[string]string{"n.md": "category\n"}, "cat", "", TierNone},

		{"a path filter", map[string]string{"a/n.md": "sensor\n", "b/n.md": "sensor\n"}, "sensor path:a/", "a/n.md", TierExact},
		{"a path filter with a space", map[string]string{"my trips/n.md": "x\n", "b/n.md": "y\n"}, `path:"my trips/"`, "my trips/n.md", TierExact},
		{"a title filter", map[string]string{"n.md": "# Garden Sensor\n", "o.md": "# Other\ngarden\n"}, "title:garden", "n.md", TierExact},
		{"a title filter with a star", map[string]string{"n.md": "# Garden Sensor\n", "o.md": "# Sensor Garden\n"}, "title:gard*sens", "n.md", TierExact},
		{"a title filter with signs of a database", map[string]string{"n.md": "# 50%_a\\b\n", "o.md": "# 50x_a b\n"}, `title:0%_a\*b`, "n.md", TierExact},
		{"a path filter with stars", map[string]string{"2026/a/n.md": "x\n", "2026/o.txt.md": "y\n", "a/2026.md": "z\n"}, "path:2026/*/*.md", "2026/a/n.md", TierExact},
		{"a tag filter with a star", map[string]string{"n.md": "#project/one\n", "o.md": "#propane\n", "p.md": "#my/project\n"}, "tag:proj*", "n.md", TierExact},
		{"any tag", map[string]string{"n.md": "#x\n", "o.md": "y\n"}, "tag:*", "n.md", TierExact},
		{"tags below a star", map[string]string{"n.md": "#a/x/y\n", "o.md": "#a/xy\n"}, "tag:*/x", "n.md", TierExact},
		{"filters with large letters", map[string]string{"a/n.md": "# T\n#x\n", "b.md": "y\n"}, "Tag:x PATH:a/ Title:t", "a/n.md", TierExact},

		{"an emoji", map[string]string{"n.md": "It works 🎉.\n", "o.md": "It works 🎈.\n"}, "🎉", "n.md", TierExact},
		{"an emoji of several characters", map[string]string{"n.md": "👩‍👩‍👧 and 👍🏽\n", "o.md": "👩 👍🏿\n"}, "👩‍👩‍👧 👍🏽", "n.md", TierExact},
		{"an emoji drawn as text", map[string]string{"n.md": "I \u2764 it\n"}, "\u2764\ufe0f", "n.md", TierExact},
		{"an emoji glued to a word", map[string]string{"n.md": "done✅\n", "o.md": "done\n"}, "✅done", "n.md", TierExact},
		{"a word glued to an emoji", map[string]string{"n.md": "✅done\n"}, "done", "n.md", TierExact},
		{"a Chinese character before an emoji", map[string]string{"n.md": "京都🎉\n"}, "都", "n.md", TierExact},
		{"an emoji as a tag", map[string]string{"n.md": "#✅ #🟢open\n", "o.md": "✅ open\n"}, "tag:✅ #🟢open", "n.md", TierExact},
		{"another emoji", map[string]string{"n.md": "🎉\n"}, "🎈", "", TierNone},
		{"a tag filter and a word", map[string]string{"n.md": "#x apple\n", "o.md": "apple\n"}, "tag:x apple", "n.md", TierExact},
		{"a filter without a value is text", map[string]string{"n.md": "title: none\n"}, "title: none", "n.md", TierExact},

		{"words in any order", map[string]string{"n.md": "sensor in the garden\n"}, "garden sensor", "n.md", TierExact},
		{"parts of a name that stand apart", map[string]string{"n.md": "review, then ask\n"}, "ask-review", "n.md", TierAll},
		{"a long run that stands apart", map[string]string{"n.md": "无线的、线传、传感、感器\n"}, "无线传感器", "n.md", TierAll},
		{"a question", map[string]string{"n.md": "# Garden sensor\ncalibrate it\n", "o.md": "how to bake\n"}, "how do I calibrate the garden sensor in practice", "n.md", TierSome},
		{"a Chinese question", map[string]string{"n.md": "# 无线传感器\n校准步骤\n", "o.md": "面包\n"}, "请问关于无线传感器的校准说明在哪里", "n.md", TierSome},

		{"question marks", map[string]string{"n.md": "text?!\n"}, "?!", "", TierNone},
		{"a bracket", map[string]string{"n.md": "(\n"}, "(", "", TierNone},
		{"a star", map[string]string{"n.md": "*\n"}, "*", "", TierNone},
		{"spaces", map[string]string{"n.md": "text\n"}, "   ", "", TierNone},
		{"a sharp alone", map[string]string{"n.md": "#\n"}, "#", "", TierNone},
		{"empty quotes", map[string]string{"n.md": "text\n"}, `""`, "", TierNone},
		{"a word that is nowhere", map[string]string{"n.md": "text\n"}, "xylophone", "", TierNone},
		{"CRLF and BOM", map[string]string{"n.md": "\ufeff---\r\ntitle: Plan\r\ntags: [a]\r\n---\r\nthe body\r\n"}, "tag:a body title:plan", "n.md", TierExact},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := vault(t, c.files).search(t, c.query)
			got := paths(r)
			slices.Sort(got)
			want := strings.Fields(strings.ReplaceAll(c.want, "my trips", "my_trips"))
			for i := range want {
				want[i] = strings.ReplaceAll(want[i], "my_trips", "my trips")
			}
			slices.Sort(want)
			if !slices.Equal(got, want) || r.Tier != c.tier || r.Total != len(want) {
				t.Errorf("%q found %q, total %d, tier %s; want %q, tier %s", c.query, got, r.Total, r.Tier, want, c.tier)
			}
		})
	}
}
