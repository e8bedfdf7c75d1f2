#!/usr/bin/env python3
"""Makes gate/secrets.json of gitleaks' public rule file.

    .ci/secrets.py "$(go mod download -json github.com/zricethezav/gitleaks/v8@v8.30.1 | jq -r .Dir)" v8.30.1

Left out: generic-api-key and hashicorp-tf-password, which take any long word beside "key" or "password" for a secret, and
private-key, which is found by other means. Lists of paths are dropped, since a secret is one wherever it stands. The
prefix [\\w.-]{0,50}? of many rules is dropped: it is in no captured group and makes them slow. One regular expression of
the allow list lacks parentheses, so that it lets pass whatever holds "false"; it gets them.
"""
import json, pathlib, sys, tomllib

folder, version = pathlib.Path(sys.argv[1]), sys.argv[2]
given = tomllib.loads((folder / "config/gitleaks.toml").read_text())
out = {
    "source": f"github.com/zricethezav/gitleaks/v8@{version} config/gitleaks.toml, MIT licence, see secrets.LICENSE",
    "allow": [r.replace("^true|false|null$", "^(?:true|false|null)$") for r in given["allowlist"]["regexes"]],
    "stopwords": given["allowlist"]["stopwords"],
    "rules": [],
}
for rule in given["rules"]:
    if rule["id"] in ("generic-api-key", "hashicorp-tf-password", "private-key") or "regex" not in rule:
        continue
    kept = {"id": rule["id"], "regex": rule["regex"].replace(r"[\w.-]{0,50}?", ""), "keywords": rule["keywords"]}
    if "entropy" in rule:
        kept["entropy"] = rule["entropy"]
    if "secretGroup" in rule:
        kept["group"] = rule["secretGroup"]
    if rule["id"] == "kubernetes-secret-yaml":
        kept["needs"] = ["kind:", "data:"]  # both are in each match; "secret" alone is in many texts
    for allow in rule.get("allowlists", []):
        key = "allow_match" if allow.get("regexTarget") == "match" else "allow"
        kept.setdefault(key, []).extend(allow.get("regexes", []))
    out["rules"].append({k: v for k, v in kept.items() if v != []})
target = pathlib.Path(__file__).parent.parent / "gate"
lines = [json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in out.pop("rules")]
head = json.dumps(out, ensure_ascii=False, separators=(",", ":"))
(target / "secrets.json").write_text(head[:-1] + ',"rules":[\n' + ",\n".join(lines) + "\n]}\n")
(target / "secrets.LICENSE").write_text((folder / "LICENSE").read_text())
