/** Why `realPath` must never be touched without a person's yes, in any mode; `undefined` when it is an ordinary path. */
export function protectionOf(realPath: string): string | undefined {
  const segments = realPath.toLowerCase().normalize('NFKC').split(/[\\/]/);
  const hit = segments.find((segment) => protectedNames.has(segment));
  return hit === undefined ? undefined : `${hit} holds configuration that other programs execute`;
}

const protectedNames = new Set(['.git', '.lathe', '.qwen']);
