import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { osPath } from '../file-name.js';
import { foldPath } from './protected-paths.js';

/**
 * Files of a project that usually hold keys: their content goes to a model only after a person said so, or by a rule for
 * exactly this file. Other than for stored credentials (`secrecyOf`), the file must exist, and where the name alone does
 * not tell, its content decides.
 */

/** Why the content of a file needs a person's approval before a model sees it; `undefined` for an ordinary file. */
export function sensitivityOf(realPath: string): string | undefined {
  const name = (foldPath(realPath).at(-1) ?? '').replace(copyEnding, '');
  if (!mayBeSensitive(name)) return undefined;
  const start = startOf(realPath);
  if (start === undefined || start === '') return undefined;
  const isSensitive = byName.test(name) || (isKeyFile.test(name) ? privateKey : token).test(start);
  return isSensitive ? `${name} may hold keys or passwords` : undefined;
}

/** A quick check of a name, which may be of an ordinary file all the same. */
export function mayBeSensitive(name: string): boolean {
  const folded = name.toLowerCase();
  return (byName.test(folded) || isKeyFile.test(folded) || isPackageSettings.test(folded)) && !isTemplate.test(folded);
}

/** Endings of backup copies: `id_rsa.bak`, `.env~`. */
const copyEnding = /(?:~|\.(?:bak|old|orig|save|swp))$/;

const byName = /^\.env(?:\..+|~)?$|^\.envrc$|\.(?:p12|pfx|jks|keystore|ppk|kdbx)$/;
/** They describe the variables without their values. */
const isTemplate = /^\.env(?:\..+)?\.(?:example|sample|template|dist)$/;
const isKeyFile =
  /^id_[\w.-]+$|\.(?:pem|key)(?:\.\w+)?$|(?:credential|service[-_]?account|client[-_]secret)[\w.-]*\.json$/;
const isPackageSettings = /^\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc|netrc)(?:\.\w+)?$/;
const privateKey = /PRIVATE KEY|"private_key"\s*:|"client_secret"\s*:/;
/** Not one that is taken from a variable. */
const token = /(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent|password)["']?\s*[=:]\s*["']?(?!\$)[^\s"'$]/;

const maxBytes = 65_536;

/** The first bytes of a regular file; `undefined` if there is none. */
function startOf(path: string): string | undefined {
  try {
    const file = openSync(osPath(path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
    try {
      if (!fstatSync(file).isFile()) return undefined;
      const bytes = Buffer.alloc(maxBytes);
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, maxBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
