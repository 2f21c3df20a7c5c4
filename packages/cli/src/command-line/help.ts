/** The help page of a command, or the general page. */
export function helpText(command: string | undefined): string {
  return (command !== undefined ? pages[command] : undefined) ?? general;
}

const general = `lathe: a coding agent for the terminal, with any model

  lathe [prompt]                   interactive agent in this directory
  lathe -p "…"                     run one task and exit (the prompt may also come from stdin)
  lathe tools [--json]             list the tools a model can call
  lathe tools new <name>           write a tool of this project: .lathe/tools/<name>.ts
  lathe call <tool> [json|-]       run one tool call, with all checks and without a model
  lathe console                    call the tools yourself, with completion
  lathe demo [--yes]               watch a scripted model work on a scratch project (--record FILE writes an SVG)
  lathe sessions [--json]          list earlier sessions in this directory
  lathe view [id] [--out FILE]     write a session as an HTML page: timeline, outputs, diffs, tokens
  lathe undo [n]                   undo the last n file changes made here by tools (--list shows them)
  lathe mcp add|list|remove|test|auth   manage MCP servers
  lathe serve                      offer the tools as an MCP server (stdio, or --http)
  lathe trust [dir]                trust the settings, commands and servers of a folder (--list, --remove)
  lathe completion SHELL           print completion for bash, zsh or fish: source <(lathe completion bash)
  lathe doctor [--json]            check the setup and say how to fix problems

Flags
  --approval-mode MODE             plan | default | auto-edit | yolo (--yolo for short)
  --allowed-tools RULES            run these calls without asking, e.g. "read_file,run_shell_command(git status)"
  --cwd DIR                        work in DIR
  -m, --model NAME                 use this model
  --trust                          trust this folder for this run
  --sandbox MODE                   required | auto | off, for commands
  -o, --output-format FORMAT       text | json | stream-json, with -p
  --include-partial-messages       with stream-json: also print pieces of answers as they arrive
  --json-schema SCHEMA             answer with JSON that matches this schema (inline or a file), with -p
  --max-turns N, --max-tokens N, --max-minutes N
                                   stop when this limit is reached
  -c, --continue; -r, --resume [ID]  continue the latest session, or the one with this id (without: choose)
  --screen-reader                  plain output for screen readers
  --record FILE, --replay FILE     record the model's answers to a file; replay them without a model
  --json                           JSON output of tools, call, sessions and doctor
  --version, --help

Exit codes: 0 success, 1 failure, 2 wrong usage or parameters, 3 denied, 130 interrupted`;

const pages: Record<string, string> = {
  call: `lathe call <tool> [json|-] [--json]

Runs one tool through the same steps as a call from a model: find, validate, approve, execute. The parameters are a
JSON object, given as an argument or, with "-", on stdin. In a terminal Lathe asks you when a call needs approval.
Elsewhere the call is denied unless a rule or mode allows it.

  lathe call glob '{"pattern": "**/*.md"}'
  lathe call read_file '{"absolute_path": "/etc/hosts"}' --json      outside the directory, so it asks`,
  mcp: `lathe mcp add [flags] <name> <command> [args…]   a server that Lathe starts
lathe mcp add [flags] <name> <url>                 a server reached over HTTP
lathe mcp list                                     list the configured servers
lathe mcp test [name]                              connect and list the tools
lathe mcp auth <name>                              log in to a server
lathe mcp remove <name>                            remove a server from the settings

Flags of add, before the name: --scope user|project, --transport stdio|http|sse, --env NAME=value, --header "Name: value",
--timeout MS, --trust, --include-tools a,b, --exclude-tools a,b, --cwd DIR, --description TEXT

  lathe mcp add memory npx -y @modelcontextprotocol/server-memory
  lathe mcp add --header 'Authorization: Bearer $TOKEN' docs https://example.com/mcp`,
  serve: `lathe [flags] serve [--http [--port N]]

Offers the built-in tools to another program (an editor, another agent) as an MCP server on stdin and stdout, for the
current directory or --cwd DIR. With --http it listens on 127.0.0.1 instead, on a free port or port N. Every request
must carry the token that is printed at the start, and requests from web pages are rejected. The usual rules apply: a
call that needs approval is put to the person through the client. If the client cannot ask, the call is denied unless a
rule, --allowed-tools or --approval-mode allows it.

  lathe --cwd ~/project --approval-mode auto-edit serve`,
  trust: `lathe trust [dir]            trust a folder (default: this one)
lathe trust --yes [dir]      also approve its commands and servers, without asking
lathe trust --list           list trusted and distrusted folders
lathe trust --remove [dir]   stop trusting a folder

The settings of an untrusted folder can only make the rules stricter. Its commands, servers and .env are ignored.`,
  undo: `lathe undo [n]           undo the last n file changes made here by tools (default: 1), newest first
lathe undo --list [n]    list the last n changes (default: 20) without undoing them

A file that has changed since then is skipped, and the exit code is 1.`,
  view: `lathe view [id] [--out FILE]

Writes a session as one HTML page that needs no network, and prints its address. The id comes from lathe sessions and
may be shortened; the default is the latest session. Without --out the page goes to Lathe's own directory. An earlier
page in FILE is replaced, but any other file is left alone.`,
};
