import { createHash } from 'node:crypto';
import timelineScript from './page.client.js?raw';
import generalStyle from './page.css?raw';
import template from './page.html?raw';
import charts from './page-charts.client.js?raw';
import connection from './page-connection.client.js?raw';
import { kinds, type PageData } from './page-data.js';
import dom from './page-dom.client.js?raw';
import events from './page-events.client.js?raw';
import live from './page-live.client.js?raw';
import liveStyle from './page-live.css?raw';
import timelineStyle from './page-timeline.css?raw';

/** A session as a self-contained page. Its policy lets the browser load nothing and run only this script. */
export function pageOf(data: PageData): string {
  return assemble({ data, scripts: [dom, charts, timelineScript], styles: [timelineStyle, generalStyle] });
}

/** The page at `/` of `lathe serve --agent`. It may also talk to its server, and to nothing else. */
export function livePage(): string {
  const data = { id: '', directory: '', model: '', notes: [], rows: [], kinds: Object.fromEntries(kinds) };
  const scripts = [dom, charts, timelineScript, connection, events, live];
  return assemble({ data, scripts, styles: [timelineStyle, generalStyle, liveStyle], isLive: true });
}

function assemble(parts: { data: object; scripts: string[]; styles: string[]; isLive?: true }): string {
  const { data, scripts, styles, isLive = false } = parts;
  const style = styles.join('');
  // One script, in which the modules need not import each other.
  const script = scripts.map((text) => text.replace(/^import .*;\n/gm, '').replace(/^export /gm, '')).join('\n');
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
