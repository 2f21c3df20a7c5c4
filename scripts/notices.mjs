// What third-party code a bundle holds: licence notices for people, and a CycloneDX bill of materials for scanners.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes THIRD_PARTY_NOTICES.txt and sbom.cdx.json for the package in `directory`, of which these files were bundled.
 * Fails for a package without a licence text.
 */
export function writeNotices(files, root, directory, outdir) {
  const directories = new Set(
    files.flatMap((file) => /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file)?.[1] ?? []),
  );
  const bundled = [...directories].map(describe);
  bundled.sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const texts = bundled.map(({ text }) => text);
  writeFileSync(
    join(outdir, 'THIRD_PARTY_NOTICES.txt'),
    `This program contains the following software.\n\n${texts.join('\n\n')}`,
  );
  const parts = new Map([...installed(root, directory), ...bundled].map((part) => [part.name, part]));
  const sbom = billOfMaterials(readPackage(directory), [...parts.values()]);
  writeFileSync(join(outdir, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
}

function billOfMaterials(main, parts) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component(main, 'application') },
    components: parts.map((part) => component(part, 'library')),
  };
}

function component({ name, version, license }, type) {
  const purl = `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl };
}

/** What npm installs beside the bundle. */
function installed(root, directory) {
  const { dependencies, optionalDependencies } = readPackage(directory);
  return Object.keys({ ...dependencies, ...optionalDependencies }).map((name) =>
    readPackage(join(root, 'node_modules', name)),
  );
}

function readPackage(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}

function describe(directory) {
  const { name, version, license } = readPackage(directory);
  const file = readdirSync(directory).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  const text =
    file !== undefined && existsSync(join(directory, file))
      ? readFileSync(join(directory, file), 'utf8').trim()
      : standard(license);
  if (text === undefined) throw new Error(`${name} has no licence text: ${license}`);
  return { name, version, license, text: `## ${name} ${version} (${license})\n\n${text}` };
}

/** Some packages name their licence without its text. */
function standard(license) {
  return license === 'MIT' || license === 'ISC' ? `Licensed under the ${license} License by its authors.` : undefined;
}
