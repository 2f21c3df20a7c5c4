import { basename, extname } from 'node:path';

/** What a glob over many files leaves out by default: generated files, and files that are not text. */
export function isExcludedByDefault(path: string): boolean {
  const name = basename(path);
  return names.has(name) || extensions.has(extname(name).slice(1).toLowerCase());
}

const names = words(`
  node_modules .git bower_components .svn .hg .vscode .idea dist build coverage __pycache__ .DS_Store .env QWEN.md
`);

const extensions = words(`
  bin exe dll so dylib class jar war o a obj wasm pyc pyo zip tar gz bz2 xz zst rar 7z iso dat db sqlite sqlite3
  doc docx xls xlsx ppt pptx odt ods odp woff woff2 ttf eot
`);

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
