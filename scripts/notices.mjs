// The notices of third-party code in a bundle: name, version, licence and licence text of every package that is in it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the notices for a bundle, by the metafile of esbuild. Fails for a package without a licence text. */
export function writeNotices(metafile, root, path) {
  const directories = new Set(
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
    ),
  );
  const packages = [...directories].map((directory) => describe(join(root, directory)));
  const texts = packages.sort((a, b) => a.name.localeCompare(b.name, 'en')).map(({ text }) => text);
  writeFileSync(path, `This program contains the following software.\n\n${texts.join('\n\n')}`);
}

function describe(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  const text =
    file !== undefined && existsSync(join(directory, file))
      ? readFileSync(join(directory, file), 'utf8').trim()
      : standard(license);
  if (text === undefined) throw new Error(`${name} has no licence text: ${license}`);
  return { name, text: `## ${name} ${version} (${license})\n\n${text}` };
}

/** Some packages name their licence without its text. */
function standard(license) {
  return license === 'MIT' || license === 'ISC' ? `Licensed under the ${license} License by its authors.` : undefined;
}
