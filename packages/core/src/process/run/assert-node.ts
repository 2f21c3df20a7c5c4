/** Throws on Bun and Deno: there commands end with success and no output, and files cannot be read. */
export function assertNode(): void {
  const other = ['Bun', 'Deno'].find((name) => name in globalThis);
  if (other !== undefined)
    throw new Error(`Lathe does not run on ${other}: start this program with Node.js 20.19 or newer.`);
}
