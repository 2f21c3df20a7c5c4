// The site over the pages of ../docs, which site/build.mjs copies to site/pages. Nothing is fetched.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const site = join(import.meta.dirname, '..');
const root = join(site, '..');
const docs = join(root, 'docs');
const pages = join(site, 'pages');
/** Files of the repository that pages link to, from its root. */
const linked = new Set();
/** Contrast of labels, no key hint in the name of the search button, wider pages, tables that read from the top. */
const style = `
.vp-doc [class*='language-'] > span.lang.lang { color: var(--vp-c-text-1) }
.VPNavBar .DocSearch-Button .DocSearch-Button-Keys { display: none }
@media (min-width: 960px) { .VPDoc.has-aside .content-container.content-container { max-width: 800px } }
.vp-doc td, .vp-doc th { vertical-align: top }
.vp-doc td { padding: 6px 12px; font-size: 0.875rem; line-height: 1.5 }
.vp-doc th { padding: 6px 12px; text-align: left }
.vp-doc td code { font-size: 0.8125rem; overflow-wrap: break-word }
.VPNavBarMenuLink.VPNavBarMenuLink { padding: 0 8px }
@media (max-width: 1099px) { .VPNavBarMenu.VPNavBarMenu { display: none } }
.vp-doc.home { max-width: 1152px; margin: 32px auto 64px; padding: 0 24px }
:root { --vp-button-brand-bg: #3451b2; --vp-button-brand-hover-bg: #2a4091 }
.VPHero .image { max-width: 640px }
.VPHero .image-container.image-container { width: auto; height: auto; transform: none }
.VPHero .image-src.image-src { position: static; max-width: 100%; max-height: none; transform: none; border-radius: 8px }
.VPHero .image-bg { display: none }
@media (max-width: 959px) { .VPHero .image.image { margin: 0 auto 24px } }
`;
const page = ([text, link]) => ({ text, link });
const group = (text, links) => ({ text, items: links.map(page).filter(exists) });

const groups = [
  group('Start', [['Install and first task', '/start']]),
  group('Use', [
    ['The terminal', '/terminal'],
    ['The screen', '/screen'],
    ['The agent, headless and CI', '/agent'],
    ['Models', '/models'],
    ['Run commands', '/running-commands'],
    ['Change files and undo', '/changing-files'],
    ['Read files', '/reading-files'],
    ['Search', '/searching'],
    ['The web', '/web'],
    ['Sessions', '/sessions'],
    ['View a session', '/viewer'],
    ['Subagents', '/subagents'],
    ['Editors', '/editors'],
    ['Language servers', '/languages'],
    ['Worktrees', '/worktrees'],
    ['Batches', '/batch'],
    ['Which commands ask?', '/questions'],
  ]),
  group('Extend', [
    ['Write a tool', '/write-a-tool'],
    ['Files, commands, MCP servers', '/extending'],
    ['Skills', '/skills'],
    ['Plugins', '/plugins'],
    ['Use it as a library', '/library'],
    ['Lathe as an MCP server', '/mcp-server'],
    ['The agent over HTTP', '/server'],
    ['The agent over stdin and stdout', '/stream-json'],
  ]),
  group('Coming from', [
    ['Qwen Code', '/coming-from/qwen-code'],
    ['Claude Code', '/coming-from/claude-code'],
    ['Codex', '/coming-from/codex'],
    ['Gemini CLI', '/coming-from/gemini-cli'],
  ]),
  group('Administer', [
    ['Settings, permissions, trust', '/settings'],
    ['Telemetry', '/telemetry'],
    ['Many machines', '/fleet'],
  ]),
  group('Troubleshoot', [['Common messages', '/troubleshooting']]),
  group('Reference', [
    ['All settings', '/settings#all-settings'],
    ['Command line', '/command-line'],
    ['Limits', '/limits'],
    ['API', '/api/'],
    ['Events', '/events'],
    ['Error types', '/error-types'],
    ['MCP conformance', '/mcp-conformance'],
  ]),
  group('How it works', [
    ['Architecture', '/architecture'],
    ['Safety: promises and proof', '/safety'],
    ['How we measure', '/measuring'],
    ['Sandboxes side by side', '/sandbox-comparison'],
    ['Builds in the sandbox', '/builds'],
  ]),
];

export default defineConfig({
  title: 'Lathe',
  description: 'A coding agent for the terminal, with any model, and its tool system as a library',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: false,
  head: [['style', {}, style]],
  markdown: {
    config: linkToFiles,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  buildEnd: ({ outDir }) => {
    for (const file of linked) writeCopy(join(root, file), join(outDir, 'files', `${file}.txt`));
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: groups.map(({ text, items }) => ({ text, link: items[0].link })),
    sidebar: groups,
  },
});

/** Whether the page is written yet. */
function exists({ link }) {
  const [path] = link.split('#');
  return existsSync(join(pages, `${path}.md`)) || existsSync(join(pages, path, 'index.md'));
}

function writeCopy(source, target) {
  mkdirSync(dirname(target), { recursive: true });
  const isFolder = statSync(source).isDirectory();
  writeFileSync(target, isFolder ? readdirSync(source).join('\n') : readFileSync(source));
}

/** A link to a file that is not a page leads to a copy of its text. */
function linkToFiles(markdown) {
  const { link_open: open } = markdown.renderer.rules;
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const [path] = (token.attrGet('href') ?? '').split('#');
    const file = resolve(docs, dirname(relative(pages, env.realPath ?? env.path)), path);
    const isPage = file.startsWith(`${docs}/`) && file.endsWith('.md');
    if (path !== '' && !isPage && existsSync(file) && !/^[a-z]+:|^\//.test(path)) {
      linked.add(relative(root, file));
      token.attrSet('href', `/files/${relative(root, file)}.txt`);
    }
    return open ? open(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
  };
}
