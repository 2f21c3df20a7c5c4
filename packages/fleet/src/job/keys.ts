import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, makeDirectory } from '@lathe/core/host';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';

const text = Type.String();
const sealedSchema = Type.Object({ kind: text, body: text, /** Public, of the signer. */ key: text, signature: text });

/** What a message is, so that none can stand in for another. */
type Kind = 'job' | 'question' | 'answer' | 'session' | 'result';
/** A message in the queue with the signature of who put it there. */
export type Sealed = Static<typeof sealedSchema>;

const maxName = 64;
const nameShape = /^[\w.@-]+$/;

/**
 * Who this machine is, and whose messages it accepts. The private key never leaves `~/.lathe/fleet`; `trusted` lists one
 * `name key` per line.
 */
export class Keys {
  readonly #trustedPath: string;
  readonly #privateKey: KeyObject;
  readonly publicKey: string;

  /** Creates the key at the first use. */
  constructor(latheHome: string) {
    const directory = join(latheHome, 'fleet');
    const path = join(directory, 'key.pem');
    makeDirectory(directory);
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    try {
      writeFileSync(path, pem, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // A key that is there already counts, even if another process made it a moment ago.
      if (!existsSync(path)) throw error;
    }
    this.#trustedPath = join(directory, 'trusted');
    this.#privateKey = createPrivateKey(readFileSync(path));
    this.publicKey = createPublicKey(this.#privateKey).export({ type: 'spki', format: 'der' }).toString('base64');
  }

  /** Accepts what this key signs from now on. */
  trust(name: string, publicKey: string): void {
    if (!nameShape.test(name) || name.length > maxName)
      throw new Error(
        `${JSON.stringify(name)} is not a name: use at most ${maxName} characters, each a letter, a digit or one of . @ _ -`,
      );
    importPublic(publicKey);
    if (this.trusted().get(publicKey) === name) return;
    writeFileSync(this.#trustedPath, `${name} ${publicKey}\n`, { mode: 0o600, flag: 'a' });
  }

  /** The names of those whose messages count, by key. This machine trusts itself. */
  trusted(): Map<string, string> {
    const lines = existsSync(this.#trustedPath) ? readFileSync(this.#trustedPath, 'utf8') : '';
    const names = new Map([[this.publicKey, 'this machine']]);
    for (const [, name = '', key = ''] of lines.matchAll(/^[ \t]*([^#\s]\S*)[ \t]+(\S+)/gm)) names.set(key, name);
    return names;
  }

  seal(kind: Kind, value: unknown): Sealed {
    const body = JSON.stringify(value);
    const signature = sign(null, signedBytes(kind, body), this.#privateKey).toString('base64');
    return { kind, body, key: this.publicKey, signature };
  }

  /** The value, of a shape that a trusted signer may choose, and who signed it. Throws when nobody trusted did. */
  open(kind: Kind, sealed: unknown) {
    if (!Check(sealedSchema, sealed) || sealed.kind !== kind) throw new Error(`this is not a signed ${kind}`);
    const by = this.trusted().get(sealed.key);
    if (by === undefined) throw new Error(`the ${kind} is signed by a key that this machine does not trust`);
    const bytes = signedBytes(kind, sealed.body);
    if (!verify(null, bytes, importPublic(sealed.key), Buffer.from(sealed.signature, 'base64')))
      throw new Error(`the signature of the ${kind} is wrong`);
    return { value: JSON.parse(sealed.body), by };
  }

  /** As `open`, for stored text; undefined if no trusted key signed it. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names the shape that was signed
  read<T>(kind: Kind, stored: string | undefined): { value: T; by: string } | undefined {
    return attempt(() => (stored === undefined ? undefined : this.open(kind, JSON.parse(stored))));
  }
}

function signedBytes(kind: string, body: string): Buffer {
  return Buffer.from(`lathe-fleet 1 ${kind}\n${body}`);
}

function importPublic(key: string): KeyObject {
  try {
    const imported = createPublicKey({ key: Buffer.from(key, 'base64'), type: 'spki', format: 'der' });
    if (imported.asymmetricKeyType === 'ed25519') return imported;
  } catch {
    // Falls through to the message below.
  }
  throw new Error('this is not a public key of a fleet; lathe fleet key prints one');
}
