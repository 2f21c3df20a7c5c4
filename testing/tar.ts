interface TarEntry {
  name: string;
  content?: string | Buffer;
  /** `0` is a file, `2` a symlink. */
  type?: string;
  mode?: number;
  /** What the header says, if it lies. */
  size?: number;
}

/** An archive in the ustar format, also one that no honest program would write. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(1_024)]);
}

function blocksOf({ name, content = 'x', type = '0', mode = 0o644, size }: TarEntry): Buffer[] {
  const data = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write(`${(size ?? data.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write(type === '2' || type === '1' ? '/etc/passwd' : '', 157);
  header.write('ustar\x0000', 257);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
}
