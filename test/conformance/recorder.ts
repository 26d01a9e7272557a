import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { ROOT } from '../helpers/service-process.js';

const FOLDER = join(ROOT, 'test/conformance/fixtures');
const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Values that differ between runs, of which only the length counts: each character becomes x. */
const SECRETS = [
  /(?<=whsec_)[A-Za-z0-9+/=]+/g,
  /\b[0-9a-f]{64}\b/g,
  /(?<=v1,)[A-Za-z0-9+/]{43}=/g,
  /(?<=svc_live_)[a-z2-7]{16}(_[a-z2-7]{40})?/g,
  /(?<=SIM-)[0-9A-F]{20}/g,
  /(?<![\w-])[a-z2-7]{16}(?![\w-])/g,
];
/** Numbers that differ between runs: each digit becomes 0. */
const NUMBERS = [
  /\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?/g,
  /(?<=127\.0\.0\.1:)\d+/g,
  /(?<=webhook-timestamp: )\d+/g,
  // Entries that are old enough for a statement.
  /(?<=\bstatement_rows(",\s+"used": "| +))\d+/g,
];

/** Collects what the service printed or sent, and compares it with test/conformance/fixtures. */
export class Recorder {
  private readonly pieces: string[] = [];
  private readonly ids = new Map<string, string>();

  constructor(private readonly name: string) {}

  /** Adds an output under its heading, with everything masked that differs between runs. */
  add(heading: string, output: string): void {
    this.pieces.push(`${this.masked(heading)}\n${this.masked(output)}\n`);
  }

  /** Adds a line without masking anything. */
  addLine(line: string): void {
    this.pieces.push(line);
  }

  /** Compares with the fixture, or writes the fixture if RECORD_OUTPUTS is set. */
  finish(): void {
    const file = join(FOLDER, `${this.name}.txt`);
    const text = this.pieces.join('\n');
    if (process.env.RECORD_OUTPUTS === undefined) {
      assert.equal(text, readFileSync(file, 'utf8'), `differs from ${file}`);
      return;
    }
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, text);
  }

  private masked(text: string): string {
    let result = text.replaceAll(IDS, (id) => {
      const known = this.ids.get(id) ?? `00000000-0000-0000-0000-${padded(this.ids.size + 1)}`;
      this.ids.set(id, known);
      return known;
    });
    for (const pattern of SECRETS)
      result = result.replaceAll(pattern, (value) => 'x'.repeat(value.length));
    for (const pattern of NUMBERS)
      result = result.replaceAll(pattern, (value) => value.replaceAll(/\d/g, '0'));
    return result;
  }
}

function padded(number: number): string {
  return number.toString().padStart(12, '0');
}

/** Returns a text file with its byte order mark and carriage returns made visible. */
export function visible(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\uFEFF', '<BOM>').replaceAll('\r', '<CR>');
}

/** Parts of an XLSX file that say what it shows; the others are the library's. */
const SHOWN = /^xl\/(worksheets\/[^/]+|sharedStrings|comments\d|styles)\.xml$/;

/** Returns the parts of an XLSX file that say what it shows, each under its name. */
export function partsOf(xlsx: Buffer): string {
  const parts: string[] = [];
  const end = xlsx.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let at = xlsx.readUInt32LE(end + 16);
  for (let left = xlsx.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [size, nameLength] = [xlsx.readUInt32LE(at + 20), xlsx.readUInt16LE(at + 28)];
    const name = xlsx.toString('utf8', at + 46, at + 46 + nameLength);
    const local = xlsx.readUInt32LE(at + 42);
    const data = local + 30 + xlsx.readUInt16LE(local + 26) + xlsx.readUInt16LE(local + 28);
    const content = xlsx.subarray(data, data + size);
    const isStored = xlsx.readUInt16LE(at + 10) === 0;
    if (SHOWN.test(name))
      parts.push(`${name}: ${visible(isStored ? content : inflateRawSync(content))}`);
    at += 46 + nameLength + xlsx.readUInt16LE(at + 30) + xlsx.readUInt16LE(at + 32);
  }
  return parts.join('\n');
}
