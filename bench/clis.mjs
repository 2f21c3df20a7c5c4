// The command lines we compare ourselves with: how each is pointed at a model server, and asked.
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { peerPackage } from './case.mjs';
import { nodeOf } from './peers.mjs';

const latheProgram = join(import.meta.dirname, '..', 'packages', 'cli', 'dist', 'main.cjs');

/**
 * @typedef {object} Cli
 * @property {(place: import('./case.mjs').Place, url: string, servers?: Record<string, { command: string, args: string[] }>) =>
 *   { command: string, args: string[], env: Record<string, string> }} open
 *   writes its settings, with these MCP servers, into a home of its own
 * @property {(prompt: string) => string[]} ask the arguments of a headless run in which everything is allowed
 * @property {(path: string, offered: string[]) => { name: string, args: object }} read the call that reads a file
 */

/** @type {Record<string, Cli>} */
export const clis = {
  codex: {
    open(place, url, servers = {}) {
      const command = program(place, 'codex', '@openai/codex', 'codex');
      const toml = `model = "stub"
model_provider = "stub"
check_for_update_on_startup = false
[model_providers.stub]
name = "stub"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
[analytics]
enabled = false
[features]
apps = false
plugins = false
`;
      const tables = Object.entries(servers).map(
        ([name, { command: file, args }]) =>
          `[mcp_servers.${name}]\ncommand = ${JSON.stringify(file)}\nargs = ${JSON.stringify(args)}\n`,
      );
      save(place, '.codex/config.toml', toml + tables.join(''));
      const env = environment(place, { STUB_KEY: 'stub' });
      return { command: nodeOf(place.peers, 'codex'), args: [command], env };
    },
    ask: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    read(path, offered) {
      if (offered.includes('exec_command')) return { name: 'exec_command', args: { cmd: `cat ${path}` } };
      if (offered.includes('shell_command')) return { name: 'shell_command', args: { command: `cat ${path}` } };
      return { name: 'shell', args: { command: ['cat', path] } };
    },
  },
  claude: {
    open(place, url) {
      const command = program(place, 'claude', '@anthropic-ai/claude-code', 'claude');
      save(place, '.claude.json', { hasCompletedOnboarding: true });
      const env = environment(place, {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'stub',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        IS_SANDBOX: '1',
      });
      return { command, args: [], env };
    },
    ask: (prompt) => ['-p', prompt, '--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5'],
    read: (path) => ({ name: 'Read', args: { file_path: path } }),
  },
  pi: {
    open(place, url) {
      const command = program(place, 'pi', '@earendil-works/pi-coding-agent', 'pi');
      const compat = { supportsDeveloperRole: false, supportsReasoningEffort: false };
      const models = [{ id: 'stub', contextWindow: 1_000_000, maxTokens: 8000 }];
      const stub = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'x', compat, models };
      save(place, '.pi/agent/models.json', { providers: { stub } });
      const env = environment(place, { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' });
      return { command: nodeOf(place.peers, 'pi'), args: [command], env };
    },
    ask: (prompt) => ['--provider', 'stub', '--model', 'stub', '-p', prompt],
    read: (path) => ({ name: 'read', args: { path } }),
  },
  'gemini-cli': {
    open(place, url, servers = {}) {
      const command = program(place, 'gemini-cli', '@google/gemini-cli', 'gemini');
      save(place, '.gemini/settings.json', {
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        mcpServers: servers,
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      });
      const env = environment(place, {
        GEMINI_API_KEY: 'stub',
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      });
      return { command: process.execPath, args: [command], env };
    },
    ask: (prompt) => ['-m', 'gemini-2.5-pro', '--approval-mode', 'yolo', '--skip-trust', '-p', prompt],
    read: (path) => ({ name: 'read_file', args: { file_path: path } }),
  },
  'qwen-cli': {
    open(place, url, servers = {}) {
      const command = program(place, 'qwen-cli', '@qwen-code/qwen-code', 'qwen');
      save(place, '.qwen/settings.json', {
        $version: 4,
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        mcpServers: servers,
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
      });
      const env = environment(place, {
        OPENAI_API_KEY: 'stub',
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_MODEL: 'stub',
        QWEN_MODEL: 'stub',
      });
      return { command: nodeOf(place.peers, 'qwen-cli'), args: [command], env };
    },
    ask: (prompt) => ['--auth-type', 'openai', '-m', 'stub', '--approval-mode', 'yolo', prompt],
    read: (path) => ({ name: 'read_file', args: { file_path: path } }),
  },
  opencode: {
    open(place, url) {
      const command = program(place, 'opencode', 'opencode-ai', 'opencode');
      const models = { stub: { name: 'stub', limit: { context: 1_000_000, output: 8000 } } };
      const options = { baseURL: `${url}/v1`, apiKey: 'x' };
      save(place, '.config/opencode/opencode.json', {
        autoupdate: false,
        share: 'disabled',
        provider: { stub: { npm: '@ai-sdk/openai-compatible', name: 'stub', options, models } },
        model: 'stub/stub',
        small_model: 'stub/stub',
      });
      const env = environment(place, {
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      });
      return { command, args: [], env };
    },
    ask: (prompt) => ['run', '--auto', '-m', 'stub/stub', prompt],
    read: (path) => ({ name: 'read', args: { filePath: path } }),
  },
};

/** Our own, on the same terms: like most of the others, with a server that no price list knows. */
export const lathe = latheOver(
  () => ({}),
  (url) => ({ name: 'stub', baseUrl: `${url}/v1`, apiKey: 'stub' }),
);

/** Our own by wire format, each with a model of the same size. */
export const latheByFormat = {
  'Chat Completions': lathe,
  Messages: latheOver((url) => ({
    ANTHROPIC_API_KEY: 'stub',
    ANTHROPIC_BASE_URL: `${url}/v1`,
    ANTHROPIC_MODEL: 'stub',
  })),
  Gemini: latheOver((url) => ({ GEMINI_API_KEY: 'stub', GEMINI_BASE_URL: `${url}/v1beta`, GEMINI_MODEL: 'stub' })),
};

function latheOver(variables, model = () => ({})) {
  return {
    open(place, url, servers = {}) {
      save(place, '.lathe/settings.json', { mcpServers: servers, model: model(url) });
      return { command: process.execPath, args: [latheProgram], env: environment(place, variables(url)) };
    },
    ask: (prompt) => ['--yolo', '-p', prompt],
    read: (path) => ({ name: 'read_file', args: { absolute_path: path } }),
  };
}

function program(place, peer, pack, name) {
  peerPackage(place, peer, pack);
  return realpathSync(join(place.peers, peer, 'node_modules', '.bin', name));
}

function environment({ peers, scratch }, variables) {
  return {
    PATH: `${join(peers, 'node22', 'node_modules', 'node', 'bin')}:${process.env.PATH}`,
    HOME: scratch,
    XDG_CONFIG_HOME: join(scratch, '.config'),
    XDG_DATA_HOME: join(scratch, '.local', 'share'),
    XDG_CACHE_HOME: join(scratch, '.cache'),
    XDG_STATE_HOME: join(scratch, '.local', 'state'),
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    CI: '1',
    SHELL: '/bin/bash',
    DO_NOT_TRACK: '1',
    ...variables,
  };
}

function save({ scratch }, name, content) {
  const path = join(scratch, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}
