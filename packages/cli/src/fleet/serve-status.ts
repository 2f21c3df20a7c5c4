import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveLoopback } from '@lathe/core/host';

export interface ServeStatusOptions {
  port: number;
  /** The latest state as JSON. */
  read: () => string;
  onListening: (address: string) => void;
  log: (message: string) => void;
}

/** Serves a page on loopback that shows the state of a fleet, until `signal` aborts. It changes nothing. */
export async function serveStatus(options: ServeStatusOptions, signal: AbortSignal): Promise<void> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
    if (isPage(request)) {
      const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";
      response.writeHead(200, {
        ...headers,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `${policy}; frame-ancestors 'none'`,
        'referrer-policy': 'no-referrer',
      });
      response.end(page);
      return;
    }
    const isStatus = request.method === 'GET' && request.url === '/status';
    response.writeHead(isStatus ? 200 : 404, { ...headers, 'content-type': 'application/json' });
    response.end(isStatus ? options.read() : errorBody('Not found'));
  };
  await serveLoopback(
    {
      port: options.port,
      onListening: (origin, token) => options.onListening(`${origin}/#${token}`),
      isPublic: isPage,
      handle,
      errorBody,
      log: options.log,
      close: async () => undefined,
    },
    signal,
  );
}

function isPage({ method, url }: IncomingMessage): boolean {
  return method === 'GET' && url === '/';
}

function errorBody(message: string): string {
  return JSON.stringify({ error: { message } });
}

/** The token is in the fragment of the address, which browsers do not send. */
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Lathe fleet</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color-scheme: light dark }
  table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top }
  pre { white-space: pre-wrap; margin: 0 } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem }
</style>
<h1>Lathe fleet</h1>
<p id="state" role="status">Loading…</p>
<main id="tables"></main>
<script>
  const token = location.hash.slice(1);
  const element = (name, text) => Object.assign(document.createElement(name), { textContent: text ?? '' });
  const table = (title, heads, rows) => {
    const section = element('section');
    const body = element('table');
    const line = (cell, values) => { const row = element('tr'); row.append(...values.map((each) => element(cell, each))); return row; };
    body.append(line('th', heads), ...rows.map((row) => line('td', row)));
    section.append(element('h2', title + ' (' + rows.length + ')'), body);
    return section;
  };
  const show = ({ jobs, runs, workers, questions, failed, perMinute }) => {
    const sum = (...names) => names.reduce((all, name) => all + (jobs[name] ?? 0), 0);
    document.getElementById('state').textContent = sum('waiting', 'prioritized') + ' waiting, ' + sum('active') + ' running, ' +
      sum('delayed', 'waiting-children') + ' parked, ' + sum('completed') + ' ended, ' + sum('failed') + ' given up' +
      (perMinute === undefined ? '' : ', ' + perMinute.toFixed(1) + ' per minute');
    document.getElementById('tables').replaceChildren(
      table('Runs', ['run', 'ended', 'with an error', 'tokens', 'cost'], runs.map((run) => [run.name, run.ended + ' of ' + run.total,
        String(run.failed), run.tokens.toLocaleString('en'), run.cents > 0 ? '$' + (run.cents / 100).toFixed(2) : 'not known'])),
      table('Workers', ['worker', 'places in use', 'last seen'], workers.map(({ name, running, jobs: places, seen }) => [name,
        running + ' of ' + places, Math.max(0, Math.round((Date.now() - seen) / 1000)) + ' s ago'])),
      table('Questions', ['question', 'task', 'tool', 'worker'], questions.map(({ digest, id, tool, worker }) => [digest.slice(0, 12), id, tool, worker])),
      table('Given up', ['task', 'run', 'reason'], failed.map(({ key, id, run, reason }) => [id ?? key, run ?? '', reason])));
  };
  const load = async () => {
    try {
      const response = await fetch('/status', { headers: { authorization: 'Bearer ' + token } });
      if (!response.ok) throw new Error((await response.json()).error.message);
      show(await response.json());
    } catch (error) {
      document.getElementById('state').textContent = 'Not connected: ' + error.message;
    }
    setTimeout(load, 1000);
  };
  load();
</script>
</html>
`;
