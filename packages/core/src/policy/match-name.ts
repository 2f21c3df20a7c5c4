/** An exact name, a server's alias for all its tools, or a pattern such as `github__*`. `edit` covers every tool that writes. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === name || (pattern === 'edit' && name === 'write_file')) return true;
  if (pattern.startsWith('mcp__') && name.startsWith(`${pattern.slice('mcp__'.length)}__`)) return true;
  return pattern.includes('*') ? matchesPattern(pattern, name) : name.startsWith(`${pattern}__`);
}

/** `*` matches any text. Takes linear time. */
function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const next = name.indexOf(part, at);
    if (next === -1) return false;
    at = next + part.length;
  }
  const last = rest.at(-1) ?? '';
  return name.length - last.length >= at && name.endsWith(last);
}
