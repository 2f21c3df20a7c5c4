import { createHash } from 'node:crypto';
import storedScript from './page.client.js?raw';
import style from './page.css?raw';
import template from './page.html?raw';
import type { PageData } from './page-data.js';
import liveScript from './page-live.client.js?raw';

/** A session as a self-contained page. Its policy lets the browser load nothing and run only this script. */
export function pageOf(data: PageData): string {
  return assemble(data, { script: storedScript });
}

/** The page at `/` of `lathe serve --agent`. It may also talk to its server, and to nothing else. */
export function livePage(): string {
  return assemble({ id: '', directory: '', model: '', notes: [], rows: [] }, { script: liveScript, isLive: true });
}

function assemble(data: PageData, { script, isLive = false }: { script: string; isLive?: boolean }): string {
  const connect = isLive ? " connect-src 'self';" : '';
  const policy = `default-src 'none'; img-src data:;${connect} style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  // Inside a script element only `<` could end it.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const pieces: Record<string, string> = {
    policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    style: `<style>${style}</style>`,
    mode: isLive ? 'live' : 'stored',
    data: `<script type="application/json" id="data">${json}</script>`,
    script: `<script type="module">${script}</script>`,
  };
  return template
    .replace(/<!-- live -->\n(.*?)<!-- \/live -->\n/gs, (_, content: string) => (isLive ? content : ''))
    .replace(/<!-- (\w+) -->/g, (all, name: string) => pieces[name] ?? all);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
