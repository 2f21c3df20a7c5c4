/** One page; a command's own page where it has flags of its own. */
export function helpText(command: string | undefined): string {
  return (command !== undefined ? pages[command] : undefined) ?? general;
}

const general = `lathe: a coding agent for the terminal, with any model

  lathe [prompt]                   interactive agent in this directory
  lathe -p "…"                     one task, then exit (also with the prompt on stdin)
  lathe tools [--json]             the tools a model can call
  lathe call <tool> [json|-]       one tool call through validation, policy and execution; no model needed
  lathe console                    call the tools yourself, with completion and the same questions
  lathe demo [--yes]               see it work on a scratch project, with a scripted model (--record FILE: as an SVG)
  lathe sessions [--json]          earlier sessions in this directory
  lathe view [id] [--out FILE]     a session as a page for the browser: timeline, outputs, diffs, tokens
  lathe undo [n]                   take back the last n changes of files made here (--list shows them)
  lathe mcp add|list|remove|test|auth   MCP servers, whose tools a model can call
  lathe serve                      the tools for another program, as an MCP server (stdio, or --http)
  lathe trust [dir]                trust a folder's settings, commands and servers (--list, --remove)
  lathe completion SHELL           completion for bash, zsh or fish: source <(lathe completion bash)
  lathe doctor [--json]            what works here, what does not, and what to do about it

Flags
  --approval-mode MODE             plan | default | auto-edit | yolo (--yolo for short)
  --allowed-tools RULES            run these without asking, e.g. "read_file,run_shell_command(git status)"
  --cwd DIR                        work in DIR
  -m, --model NAME                 use this model
  --trust                          trust this folder for this run
  --sandbox MODE                   required | auto | off, for commands
  -o, --output-format FORMAT       text | json | stream-json, with -p (--include-partial-messages: pieces of answers too)
  --json-schema SCHEMA             the answer is JSON of this shape (a schema, or a file with one), with -p
  --max-turns N, --max-tokens N, --max-minutes N
                                   stop when so much is spent
  -c, --continue; -r, --resume ID  go on with an earlier session
  --screen-reader                  plain lines for a screen reader
  --record FILE, --replay FILE     write down what the model answers; answer from such a file, without a model
  --json                           machine-readable output of tools, call, sessions, doctor
  --version, --help

Exit codes: 0 success, 1 failure, 2 wrong usage or parameters, 3 denied, 130 interrupted`;

const pages: Record<string, string> = {
  call: `lathe call <tool> [json|-] [--json]

Runs one tool through all steps of a model's call: find, validate, confirm, execute. The parameters are a JSON object,
given as an argument or, with "-", on stdin. In a terminal you are asked where confirmation is needed; elsewhere the
call is denied unless a rule or mode allows it.

  lathe call glob '{"pattern": "**/*.md"}'
  lathe call read_file '{"absolute_path": "/etc/hosts"}' --json      outside the directory: asks`,
  mcp: `lathe mcp add [flags] <name> <command> [args…]   a server that Lathe starts
lathe mcp add [flags] <name> <url>                 a server on the web
lathe mcp list                                     the configured servers
lathe mcp test [name]                              connect and show what it offers
lathe mcp auth <name>                              log in to a server
lathe mcp remove <name>

Flags of add, before the name: --scope user|project, --transport stdio|http|sse, --env NAME=value, --header "Name: value",
--timeout MS, --trust, --include-tools a,b, --exclude-tools a,b, --cwd DIR, --description TEXT

  lathe mcp add memory npx -y @modelcontextprotocol/server-memory
  lathe mcp add --header 'Authorization: Bearer $TOKEN' docs https://example.com/mcp`,
  serve: `lathe [flags] serve [--http [--port N]]

Offers the built-in tools to another program (an editor, another agent) as an MCP server on stdin and stdout, for the
current directory or --cwd DIR. With --http it listens on 127.0.0.1 instead, at any free port or N; every request must
carry the token that is printed at the start, and requests from web pages are refused. The same rules hold as
everywhere: what needs approval is asked through the client where it can ask, and denied otherwise unless a rule,
--allowed-tools or --approval-mode allows it.

  lathe --cwd ~/project --approval-mode auto-edit serve`,
  trust: `lathe trust [dir]            trust a folder (default: this one)
lathe trust --yes [dir]      and agree to all that is shown, without a terminal
lathe trust --list           trusted and distrusted folders
lathe trust --remove [dir]   trust it no longer

In a folder that is not trusted its settings can only tighten the rules; its commands, servers and .env do not count.`,
  undo: `lathe undo [n]           take back the last n changes of files made here by tools (default: 1), the newest first
lathe undo --list [n]    show the last n (default: 20) and change nothing

A file that was changed by somebody else since is skipped, and the exit code is 1.`,
  view: `lathe view [id] [--out FILE]

Writes a session (an id of lathe sessions, or its beginning; default: the latest) as one page for a browser, with no
script from elsewhere and nothing that needs the network, and prints its address. Without --out it is kept in Lathe's
own directory. An earlier page in FILE is replaced; any other file is left alone.`,
};
