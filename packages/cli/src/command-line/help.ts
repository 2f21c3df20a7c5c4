import { type CommandName, commandNames } from './command-names.js';

/** The help page of a command, or the general page. */
export function helpText(command: string | undefined): string {
  const name = commandNames.find((each) => each === command);
  return name === undefined ? general : pages[name];
}

const general = `lathe: a coding agent for the terminal, with any model

  lathe [prompt]                   interactive agent in this directory
  lathe -p "…"                     run one task and exit (the prompt may also come from stdin)
  lathe batch tasks.jsonl          run many tasks, each in a worktree of its own (--jobs N, --out FILE)
  lathe tools [--json]             list the tools a model can call
  lathe tools new <name>           write a tool of this project: .lathe/tools/<name>.ts
  lathe call <tool> [json|-]       run one tool call, with all checks and without a model
  lathe console                    call the tools yourself, with completion
  lathe demo [--yes]               watch a scripted model work on a scratch project (--record FILE writes an SVG)
  lathe sessions [--json]          list earlier sessions in this directory
  lathe view [id] [--out FILE]     write a session as an HTML page: timeline, outputs, diffs, tokens
  lathe undo [n]                   undo the last n file changes made here by tools (--list shows them)
  lathe mcp add|list|remove|test|auth   manage MCP servers
  lathe plugin add|list|remove|update   manage plugins: skills, MCP servers, commands, subagents, hooks
  lathe serve                      offer the tools as an MCP server (stdio, or --http), or the agent (--agent)
  lathe acp                        the agent for editors (Zed, JetBrains, Neovim …), on stdin and stdout
  lathe trust [dir]                trust the settings, commands and servers of a folder (--list, --remove)
  lathe completion SHELL           print completion for bash, zsh or fish: source <(lathe completion bash)
  lathe doctor [--json]            check the setup and say how to fix problems
  lathe audit [--denied]           show which calls ran or were denied, and who decided
  lathe fleet worker|run|status|…  run tasks on many machines (needs @lathe/fleet)
  lathe clean [--dry-run]          remove old sessions, output, undo data and records

Flags
  --approval-mode MODE             plan (no changes) | default (asks) | auto (edits and sandboxed commands run) | yolo (--yolo)
  --allowed-tools RULES            run these calls without asking, e.g. "read_file,run_shell_command(git status)"
  --cwd DIR                        work in DIR
  -m, --model NAME                 use this model
  --effort LEVEL                   none | minimal | low | medium | high | xhigh | max: how much the model thinks
  --worktree [NAME]                work in a copy of the repository; at the end, apply, keep or discard the changes
  --from-commit                    with --worktree: start from the last commit, without uncommitted work
  --trust                          trust this folder for this run
  --sandbox MODE                   required | auto | off, for commands
  -o, --output-format FORMAT       text | json | stream-json, with -p
  --input-format FORMAT            text | stream-json: prompts, answers and control messages on stdin, one per line
  --include-partial-messages       with stream-json: also print pieces of answers as they arrive
  --json-schema SCHEMA             answer with JSON that matches this schema (inline or a file), with -p
  --max-turns N, --max-tokens N, --max-minutes N
                                   stop when this limit is reached
  -c, --continue; -r, --resume [ID]  continue the latest session, or the one with this id (without: choose)
  --screen-reader                  plain output for screen readers
  --record FILE, --replay FILE     record the model's answers to a file; replay them without a model
  --json                           JSON output of tools, call, sessions, plugin list, doctor and audit
  --version, --help

Exit codes: 0 success, 1 failure, 2 wrong usage or parameters, 3 denied, 130 interrupted`;

const pages: Record<CommandName, string> = {
  batch: `lathe batch <tasks.jsonl> [--jobs N] [--out FILE]

Runs the tasks of a file, some at a time, each in its own worktree, which Lathe removes afterwards. Your files do not
change: the result of a task has its changes as a patch. Lathe denies calls that need approval. Give tasks a mode
or --approval-mode. Run the same command again after an interruption: tasks that have a result do not run again.

  --jobs N      how many tasks run at once (default: 4)
  --out FILE    where results go, one JSON line each (default: tasks.results.jsonl beside tasks.jsonl)

  task:    {"id": "1", "prompt": "…", "cwd"?: "dir", "model"?: "name", "mode"?: "auto"}
  result:  {"id", "status": "success"|"error", "result", "patch"?, "usage", "sessionId"}`,
  tools: `lathe tools [--json]       list the tools a model can call here, and what was not loaded
lathe tools new <name>     write .lathe/tools/<name>.ts and a test for it
lathe tools new <name> <plugin>   write it into the plugin in that folder instead

The list names each tool, where it comes from and what it does. With --json it also has the parameter schemas. Tools of
this folder are listed after you trusted it: lathe trust.`,
  audit: `lathe audit [flags]

Shows the calls of all sessions, oldest first: when, in which session, what was decided, who or what decided it, and
what was called. Secrets are redacted when a call is recorded.

  --session ID    only this session; the id may be shortened
  --tool NAME     only this tool
  --denied        only calls that were denied or refused
  --since WHEN    a date (2026-11-01), a time (2026-11-01T12:00), or how long ago: 90m, 12h, 7d
  --tail N        the last N calls (default: 50; 0 for all)
  --json          the whole records, as JSON

  lathe audit --denied --since 7d`,
  call: `lathe call <tool> [json|-] [--json]

Runs one tool through the same steps as a call from a model: find, validate, approve, execute. The parameters are a
JSON object, given as an argument or, with "-", on stdin. In a terminal Lathe asks you when a call needs approval.
Elsewhere the call is denied unless a rule or mode allows it.

  lathe call glob '{"pattern": "**/*.md"}'
  lathe call read_file '{"absolute_path": "/etc/hosts"}' --json      outside the directory, so it asks`,
  console: `lathe console

Starts the terminal without a model: you call the tools yourself, with completion of names and parameters, and with the
same questions as an agent. Type a tool's name and its parameters, ! and a shell command, or /help.`,
  sessions: `lathe sessions [--json]

Lists the earlier sessions in this directory, newest first: id, time and first prompt.

  lathe --continue             continue the latest session
  lathe --resume ID            continue the session with this id, which may be shortened
  lathe view ID                show a session as an HTML page`,
  clean: `lathe clean [kind…] [--dry-run] [--older-than DAYS] [--all] [--yes]

Removes data that retention.days and retention.megabytes in the settings no longer keep. Lathe does the same once a day.
A kind is one of sessions, views, spill (long outputs), journal (undo) and audit; the default is all of them. Lathe
never removes data of a running session.

  --dry-run            only show what would be removed
  --older-than DAYS    remove everything that is older than this, even if the settings keep it
  --all                remove everything
  --yes                do not ask. Without it, Lathe asks before it removes more than the settings say.`,
  fleet: `lathe fleet worker --queue URL [--jobs N] [--team NAME]…   run tasks until Ctrl+C
lathe fleet run tasks.jsonl --queue URL [--out FILE]          submit tasks and wait for the results
lathe fleet status [--json]                                   jobs, workers, questions, failures
lathe fleet watch [--port N]                                  the same, kept up to date; with a port, as a page
lathe fleet answer [DIGEST once|job|deny]                     show the open questions, or answer one
lathe fleet cancel --run NAME [ID…]                           cancel tasks
lathe fleet results --run NAME                                print the results so far
lathe fleet apply --run NAME [ID…]                            apply the changes of tasks here, after a question
lathe fleet key                                               print the public key of this machine
lathe fleet trust NAME KEY                                    accept jobs, answers and results of a key

URL is redis://… or postgres://…, or set LATHE_FLEET_QUEUE. A task file has one JSON object per line, as for lathe batch:
{"id", "prompt", "cwd"?, "model"?, "mode"?}. Model keys stay on the workers.

  --store PLACE       a shared directory or s3://bucket/prefix for patches and transcripts (default: the queue's server)
  --limit N           run: at most N tasks of the team at once
  --priority N        run: 1 goes before the default 10
  --max-tokens N      run: end the run when its tasks have used so many tokens together; --max-cost CENTS likewise
  --deny RULE         run: a rule in addition to those of the workers; --ask RULE likewise. Both may be repeated
  --flows             run: subagents become tasks of their own
  --questions MODE    run: park (default) or deny what nobody answers
  --max-mode MODE     worker: the loosest approval mode that a task may have (default: auto)
  --sandbox MODE      worker: required (default), auto or off`,
  mcp: `lathe mcp add [flags] <name> <command> [args…]   a server that Lathe starts
lathe mcp add [flags] <name> <url>                 a server reached over HTTP
lathe mcp list                                     the servers, and whether each one answers
lathe mcp test [name]                              connect and list the tools
lathe mcp auth <name>                              log in to a server
lathe mcp remove <name>                            remove a server from the settings

Flags of add, before the name: --scope user|project, --transport stdio|http|sse, --env NAME=value, --header "Name: value",
--timeout MS, --trust, --include-tools a,b, --exclude-tools a,b, --cwd DIR, --description TEXT

  lathe mcp add memory npx -y @modelcontextprotocol/server-memory
  lathe mcp add --header 'Authorization: Bearer $TOKEN' docs https://example.com/mcp`,
  plugin: `lathe plugin add <source> [--yes]     show a plugin and install it if you agree
lathe plugin list [--json]            list the plugins and where they come from
lathe plugin update [name…] [--yes]   get plugins again, show what changed, and install that if you agree
lathe plugin remove <name>            remove a plugin and what its servers kept

A source is a folder, an archive (.tgz, .tar.gz, .tar; also its https address), or a git repository: URL, URL#BRANCH, or
URL#BRANCH:FOLDER for a plugin in a folder of it. Lathe reads plugins of Agent Plugins 1.0, extensions of Qwen Code and
plugins of Claude Code. Installing runs nothing. Servers, hooks and tools of a plugin start after you agree to them.

  lathe plugin add ./my-plugin
  lathe plugin add https://github.com/example/plugins#main:plugins/review`,
  demo: `lathe demo [--yes] [--record FILE]

A scripted model works on a scratch project with the real tools. You answer its questions, or --yes answers all of them.
The project is removed at the end; your files, settings and keys are not used. --record writes the screen as an SVG.`,
  serve: `lathe [flags] serve [--tools NAME,…] [--http [--port N] [--token-file FILE]]
lathe [flags] serve --agent [--port N] [--token-file FILE]

Offers the built-in tools to another program (an editor, another agent) as an MCP server on stdin and stdout, for the
current directory or --cwd DIR. --tools offers these tools instead, also those of servers, commands and files. With
--http it listens on 127.0.0.1 instead, on a free port or port N. Every request must carry the token, and requests from
web pages are rejected. The token is that of --token-file (a private file, written when it is missing), or
LATHE_SERVE_TOKEN, or a new one that Lathe prints at the start. The usual rules apply: if a call needs approval, Lathe asks
the person through the client. If the client cannot ask, Lathe denies the call unless a rule, --allowed-tools or
--approval-mode allows it.

With --agent it offers the agent itself over HTTP on 127.0.0.1: sessions, prompts, events, questions. It prints one line
with the address and the token. docs/server.md describes the API.

  lathe --cwd ~/project --approval-mode auto serve
  lathe serve --agent --port 4096`,
  acp: `lathe acp

The agent for editors that speak the Agent Client Protocol. The editor starts it, talks to it on stdin and stdout, and
shows its work and its questions. The tools see the unsaved text of open files. Flags of lathe such as --model and
--approval-mode go before acp and apply to every session of the editor.

  { "agent_servers": { "Lathe": { "command": "lathe", "args": ["acp"] } } }      settings.json of Zed`,
  trust: `lathe trust [dir]            trust a folder (default: this one)
lathe trust --yes [dir]      also approve its commands and servers, without asking
lathe trust --list           list trusted and distrusted folders
lathe trust --remove [dir]   stop trusting a folder

The settings of an untrusted folder can only make the rules stricter. Its commands, servers and .env are ignored.`,
  completion: `lathe completion bash|zsh|fish

Prints a completion script for your shell. Load it in the shell's start file:

  source <(lathe completion bash)                                         ~/.bashrc
  source <(lathe completion zsh)                                          ~/.zshrc, after compinit
  lathe completion fish > ~/.config/fish/completions/lathe.fish           once`,
  doctor: `lathe doctor [--json]

Checks the setup of this machine and this folder: model and key, settings, trust, tools and servers, the sandbox, the
terminal. Each line says ok, note or BAD, and what to do about it. The exit code is 1 if something is BAD.`,
  undo: `lathe undo [n]           undo the last n file changes made here by tools (default: 1), newest first
lathe undo --list [n]    list the last n changes (default: 20) without undoing them

A file that has changed since then is skipped, and the exit code is 1.`,
  view: `lathe view [id] [--out FILE]

Writes a session as one HTML page that needs no network, and prints its address. The id comes from lathe sessions and
may be shortened; the default is the latest session. Without --out the page goes to Lathe's own directory. An earlier
page in FILE is replaced, but any other file is left alone.`,
};
