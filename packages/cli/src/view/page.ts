import { createHash } from 'node:crypto';
import script from './page.client.js?raw';
import general from './page.css?raw';
import template from './page.html?raw';
import type { PageData } from './page-data.js';
import timeline from './page-timeline.css?raw';

const style = timeline + general;

/** A self-contained page. Its policy lets the browser load nothing and run only this script. */
export function pageOf(data: PageData): string {
  const policy = `default-src 'none'; img-src data:; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  // Inside a script element only `<` could end it.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const pieces: Record<string, string> = {
    policy: `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    style: `<style>${style}</style>`,
    data: `<script type="application/json" id="data">${json}</script>`,
    script: `<script type="module">${script}</script>`,
  };
  return template.replace(/<!-- (\w+) -->/g, (all, name: string) => pieces[name] ?? all);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
