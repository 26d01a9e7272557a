import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

/** X.509 certificates as a test needs them, which node:crypto can read but not make. */

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  readonly name: string;
}

interface Wanted {
  readonly subject: string;
  /** DNS names or IPv4 addresses. */
  readonly names?: readonly string[];
  readonly isAuthority?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;

export function makeAuthority(name: string): Authority {
  return { name, ...make({ subject: name, isAuthority: true }) };
}

/** A certificate that the authority signed; without one, itself. */
export function makeCertificate(wanted: Wanted, authority?: Authority): Certificate {
  return make(wanted, authority);
}

function make(wanted: Wanted, authority?: Authority): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(authority?.name ?? wanted.subject),
    sequence(
      time(wanted.notBefore ?? new Date(Date.now() - DAY_MS)),
      time(wanted.notAfter ?? new Date(Date.now() + DAY_MS)),
    ),
    nameOf(wanted.subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensionsOf(wanted))),
  );
  const signature = createSign('sha256')
    .update(body)
    .sign(authority?.key ?? privateKey);
  const der = sequence(
    body,
    ECDSA_SHA256,
    tagged(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  return { cert: pem(der), key: exported(privateKey) };
}

function extensionsOf({ names = [], isAuthority = false }: Wanted): Buffer[] {
  const extensions: Buffer[] = [];
  if (isAuthority) {
    const yes = tagged(0x01, Buffer.from([0xff]));
    extensions.push(sequence(oid('551d13'), yes, tagged(0x04, sequence(yes))));
  }
  if (names.length > 0)
    extensions.push(sequence(oid('551d11'), tagged(0x04, sequence(...names.map(alternativeName)))));
  return extensions;
}

function alternativeName(name: string): Buffer {
  if (isIP(name) === 0) return tagged(0x82, Buffer.from(name, 'ascii'));
  return tagged(0x87, Buffer.from(name.split('.').map((part) => Number.parseInt(part, 10))));
}

function tagged(tag: number, content: Buffer): Buffer {
  const length = content.length;
  const size =
    length < 0x80
      ? [length]
      : length < 0x100
        ? [0x81, length]
        : [0x82, Math.floor(length / 0x100), length % 0x100];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));
const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const nameOf = (text: string): Buffer =>
  sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(text)))));

/** GeneralizedTime. */
const time = (date: Date): Buffer =>
  tagged(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;

function exported(key: KeyObject): string {
  const text = key.export({ type: 'pkcs8', format: 'pem' });
  if (typeof text !== 'string') throw new TypeError('a PEM is text');
  return text;
}
