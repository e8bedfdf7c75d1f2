// Package policy decides who may do what where. It does no I/O but for [Load], which reads the file described here; its
// decisions are pure functions of that file. Silence means no.
//
// # The file
//
// A policy is a YAML file, by custom writ.yaml; JSON is YAML too. Every key may be left out. An unknown key, a key that
// stands twice, a key without a value and a value of the wrong kind are errors with file, line and column. Anchors,
// aliases and tags are not read, nor is a file of more than 64 KiB. [Schema] is the file's JSON Schema.
//
//	roots:
//	  - path: .                # relative to this file
//	    name: repo             # the mount; needed only where there are several roots
//	scope:
//	  read:  ["**"]
//	  write: ["docs/**"]       # no question asked
//	  ask:   ["src/**"]        # a person must approve
//	notes:
//	  include: ["**/*.md"]
//	  visibility: unmarked     # or public
//	limits:
//	  file_bytes: 32MiB        # the largest file that is read or written
//	  result_bytes: 256KiB     # file text in one answer
//	  artifact_bytes: 64MiB    # results too large for an answer, which are kept for a day; one takes an eighth at most
//	  undo_bytes: 512MiB       # what is kept to undo changes, all together; the oldest goes first, and says that it expired
//	  undo_days: 30            # how long it is kept
//	  call_time: 30s           # wall time of one call
//	  calls_per_minute: 600    # of one caller; the default over HTTP, over stdio there is none
//	  calls_in_flight: 128     # of one caller at once; one that waits for a person's answer does not count
//	  memory: 1GiB             # what the process tries to get along with; without it, what there is
//	  page_lines: 2000         # pages: where an answer ends if the call sets no limit itself
//	  page_entries: 1000
//	  page_matches: 200
//	  page_notes: 20
//	encodings:
//	  "legacy/**": gb18030
//	checks:                    # programs that look at a file after it was written
//	  "**/*.py": [python3, -m, py_compile, "{path}"]
//	audit:                     # the audit's lines, written to a plain file as well; without it they are in the change log alone
//	  file: /var/log/writ/audit.jsonl
//	  bytes: 64MiB             # a full file is renamed to audit.jsonl.1, an earlier one to audit.jsonl.2, and so on
//	  files: 8                 # full files that are kept
//	redact: true
//	callers:                   # who may come in over HTTP; without it programs of this machine may, unasked
//	  - name: ci
//	    token: sha256:…        # as `writ token new` prints it
//	    scope: {read: ["docs/**"]}
//	    limits: {calls_per_minute: 60}
//	  - name: anna
//	    subject: auth0|1234    # of OAuth access tokens
//	oauth:                     # whose access tokens are good
//	  issuer: https://login.example.com/
//	  audience: https://writ.example.com/mcp
//	  keys: https://login.example.com/jwks.json
//	  algorithms: [ES256]      # without it every asymmetric one
//	  scopes: [writ]           # that a token must grant, all of them
//	programs:                  # what run_program runs
//	  - name: go
//	    path: /usr/bin/go
//	    directory: tools       # where it works, as tools write paths; without it the top
//	    commands:              # by its first argument, what may follow
//	      vet: ["./...", "{path}"]
//	      test: ["./...", "{path}", -v, "-run={word}", "-count={number}"]
//	    reads: [/usr/lib/go]   # outside the roots; the system's own directories are open anyway
//	    time: 5m
//	  - name: wc
//	    path: /usr/bin/wc
//	    allow: [-l, "{path}"]  # where there are no commands
//	    writes: false
//	    ask: false             # true: each run needs a person's yes
//	    memory: 1GiB
//	    output: 256KiB
//	    env: [LANG]            # variables that it gets of the server's
//
// roots are the directories that the tools work in; directories on the command line replace them. With several, each
// path begins with the root's name, and so do the globs that match it: with roots a and b, a/docs/** is in a, and docs/**
// matches nothing.
//
// limits take whole numbers; sizes also KiB, MiB and GiB (result_bytes from 1KiB to 1GiB, artifact_bytes from 64KiB,
// undo_bytes from 1MiB, memory from 64MiB), call_time a duration such as 500ms, 30s or 2m. A result_bytes above its default raises the default pages in proportion: 1MiB makes page_lines 8000.
// Pages that the file sets stand as they are.
//
// call_time holds even where the system does not come back, as a network drive may do: the call is then answered a second
// later and left behind, and counts as in flight until it comes back. memory is soft: near it the server works harder at
// giving memory back, and no call fails for it.
//
// encodings name, by glob, the encoding of files that are neither UTF-8 nor UTF-16 with a byte order mark. The first glob
// that matches decides. Names are labels of the WHATWG encoding standard.
//
// callers are known by a token, of which the policy holds the hash, or by the subject of an access token, or by either. Their
// names stand in the audit and in approvals. scope and limits narrow those of the policy for the one caller and can't widen
// them: what is done must be open in both scopes, and the lower limit holds. Of the limits a caller can have result_bytes,
// call_time, calls_per_minute, calls_in_flight and the pages. A caller with a scope runs no programs. An empty list of
// callers is none.
//
// oauth.audience is the URL under which clients know the server; the three URLs are https, or http on this machine. The
// algorithms are ES256 to ES512, EdDSA, PS256 to PS512 and RS256 to RS512.
//
// audit.file must lie outside every root; a relative one starts at the policy's own directory. The lines are those of the
// change log, byte for byte.
//
// notes.visibility tells which notes tools may read, change and find: unmarked, all but those marked private; public, only
// those marked public. A note is private by `private: true`, `visibility: private` or `publish: false` in its front matter,
// and public by `visibility: public` or `publish: true`; private wins. Names are listed all the same.
//
// checks name programs that look at a file after it was written, by glob; every glob that matches counts. The program is
// an absolute path, or a bare name that is looked for on the server's PATH once, at the start, and must lie outside every
// root; no shell is between. In the arguments, {path} stands for a copy of the file's text, as UTF-8, which bears the
// file's base name in a directory of its own. An exit status other than 0 is a failed check; what it wrote about the copy
// as file:line:column: message, and as Python, Node and tsc do, is told line by line. A run has 5 seconds, the checks of
// one call 15. Package programs tells what else bounds them.
//
// programs are what callers may run with run_program. The file at path is fixed at the start and must lie outside every
// root. Each argument of a call must be one that is listed: text as it stands, a flag's own value included, or text with a
// placeholder at its end. {path} stands for a file or directory as tools write it: it must lie in the program's directory
// and be open for reading where its links lead, and for writing where the program writes; the program is given it relative
// to its own directory, as ./NAME. {number} stands for 1 to 18 digits, {word} for 1 to 100 letters, digits, _ and -; a
// word by itself must also be the name of a place that may be read, whether or not one is there. Nothing that begins with a
// dash stands for a placeholder, so -la is not -l and -a, and -- is not taken unless it is listed.
//
// writes lets a program change what is in its directory, by whatever way it likes: the zones say which paths it may be
// given, and nothing more. ask, or a path in the ask zone, makes a run wait for a person's yes, which is good for just these
// arguments. time is from 1ms to 6h (by default 1m), memory what each of its processes may write to, from 16MiB (1GiB),
// output what is kept of what it writes, from 1KiB to 8MiB (256KiB). env names variables that it gets of the server's own;
// those that make a program load other code (LD_…, DYLD_…) are refused. reads are directories outside the roots that it may
// read and run, where the kernel keeps it from others. Package programs tells what else bounds it. A caller with a scope of
// its own runs none, since each sees all of its directory.
//
// # Globs
//
// A glob matches whole paths relative to the top, name by name, as bytes. '*' and '?' stand for characters of one name,
// '**' for any number of whole names, [a-z] and [!a-z] for one character of a set, {a,b} for alternatives; a backslash
// takes the next character literally. docs/** includes docs itself; docs alone is that one place without what is in it.
//
// # Zones
//
// What no glob of scope matches does not exist for the tools. read opens a place for reading. write and ask open it for
// reading and for writing: write without a question, ask once a person approves.
//
// Without scope, everything may be read and nothing written. A scope says all: where it has no read, only what write and
// ask match may be read. An empty scope, {}, opens nothing. On the command line --write and --ask without --read leave
// the whole root readable; flags beside a file that has a scope add to its zones.
//
// A place in both write and ask is decided by the narrower glob. A write glob is narrower than an ask glob if all that it
// can match lies within the ask glob, and not the other way round. So
//
//	write: ["**"],      ask: ["src/**"]      // asks in src
//	write: ["docs/**"], ask: ["**"]          // asks everywhere but in docs
//	write: ["src/**"],  ask: ["**/*.go"]     // asks for every .go file: neither lies within the other
//
// and where neither is narrower, or both are the same, a person is asked. Where a write glob opens a hidden or ignored
// place, wildcards of ask globs reach it too: an ignore file can't lift the question. Adding a read or write glob never
// takes a right away, and adding an ask glob to a place that may be written never gives one; protected names are for
// themselves, see below.
//
// # Hidden and ignored names
//
// A name that begins with a dot is hidden; a name is ignored if an ignore file of the tree, such as .gitignore, names it.
// Both are in no zone, with all that lies below them, unless a glob names them:
//
//   - a hidden name must be matched by a part of a glob that begins with the dot itself: .ci/** and .[a-c]* do, '**',
//     '*', '?ci' and '[.]ci' don't. So .ci/** opens .ci/build.yml and not .ci/.cache.
//   - the name that the ignore file hits must be matched by a part of a glob other than '*' and '**': build/** opens an
//     ignored directory build, and *.log ignored log files beside the ignore file.
//
// Each glob is judged alone: .ci/** beside ** opens no more of .ci than .ci/** does. Names are hidden by their dot
// whatever their letters, so .GIT is as hidden as .git on volumes that take the two for one.
//
// These rules are those of the zones. The globs of notes and encodings only sort what the zones have opened.
//
// # Protected names
//
// Some files are orders to other programs: what version control, editors, agents, build servers and shells run or obey,
// such as .git, .vscode, .github/workflows, AGENTS.md, mcp.json and *.code-workspace, and writ.yaml with whatever file the
// policy was read from. The list is protectedNames in protected.go. A place is protected at any depth, with all that lies
// below it, and also where a name is another spelling of the protected one: other case, compatible characters,
// characters that do not show, a dot or blank at the end.
//
// A write glob opens a protected place only if it spells each protected name out, without wildcards: AGENTS.md,
// **/AGENTS.md and .github/workflows/** do, '**', *.md and .github/** don't. A place that no write glob opens in this way
// needs the ask zone; for that any ask glob will do that matches, with wildcards too, and no write glob is narrower. Where
// none does, a write is denied as protected-name. Reading is as for any other place. So
//
//	write: ["**"]                            // AGENTS.md: denied, protected-name
//	write: ["**"],  ask: ["**/AGENTS.md"]    // asks
//	write: ["docs/**"], ask: ["**"]          // asks for docs/AGENTS.md, and for none of its neighbours
//	write: ["**", "AGENTS.md"]               // written without a question at the top, denied as docs/AGENTS.md
//
// # Looking
//
// To reach a place its directories must be passed through. So [Look] is open for every place that may be read and for
// each directory that a glob could match something below: a/b/** opens a for looking, and nothing else in it. The top may
// always be looked at. Since only its path is known, Look is also open for a file in the way of such a directory; that is
// a right to learn that a directory is there, not a file, so list a file only where it may be read.
//
// # Refusals
//
// [Policy.Refusal] words a refusal for the caller of a tool. It tells what is open and how a person opens more, and never
// which rule decided, so it says nothing about the place. [Policy.Explain] tells the operator all.
package policy
