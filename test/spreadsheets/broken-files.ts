import { MAIN, sheetXml, stringsXml, workbookParts, type ZipPart, zipOf } from './workbooks.js';

/** Broken files without end, the same for the same seed: of zip, of XML within a sound zip, and of CSV. */

/** Random numbers from 0 to below 1 that are the same in every run. */
type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface BrokenFile {
  readonly kind: 'zip' | 'xml' | 'csv';
  readonly bytes: Buffer;
}

export function* brokenFiles(seed: number, count: number): Generator<BrokenFile> {
  const random = seeded(seed);
  const kinds = ['zip', 'xml', 'csv'] as const;
  const makers = { zip: brokenZip, xml: brokenXml, csv: brokenCsv };
  for (let made = 0; made < count; made += 1) {
    const kind = kinds[made % kinds.length] ?? 'zip';
    yield { kind, bytes: makers[kind](random) };
  }
}

const below = (random: Random, limit: number): number => Math.floor(random() * limit);

function oneOf<T>(random: Random, values: readonly T[]): T {
  const value = values[below(random, values.length)];
  if (value === undefined) throw new Error('there is nothing to choose from');
  return value;
}

/** No account of a tenant has this alias: a file that can be read is rejected row by row. */
const ROWS = Array.from({ length: 20 }, (_, at) => [
  '$nobody-of-all',
  `${100_000 + at}`,
  'COPM',
  `text ${at}`,
  `r${at}`,
]);
const HEADER = ['recipient', 'amount', 'asset', 'description', 'reference'];

function soundParts(): ZipPart[] {
  const texts = [HEADER, ...ROWS].flat();
  const cells = (row: number): string =>
    HEADER.map((_, column) => `<c t="s"><v>${row * HEADER.length + column}</v></c>`).join('');
  const rows = Array.from(
    { length: ROWS.length + 1 },
    (_, row) => `<row r="${row + 1}">${cells(row)}</row>`,
  );
  const strings = stringsXml(texts.map((text) => `<si><t>${text}</t></si>`).join(''));
  return workbookParts(sheetXml(rows.join('')), { 'xl/sharedStrings.xml': strings });
}

/** One to five changes of the bytes, which mostly hit what the zip says of itself. */
function brokenZip(random: Random): Buffer {
  let file = zipOf(soundParts());
  for (let changes = 1 + below(random, 5); changes > 0; changes -= 1)
    file = changedBytes(random, file);
  return file;
}

const NUMBERS = [0, 1, 0x7fff, 0xffff, 0x7fffffff, 0xfffffffe, 0xffffffff];

function changedBytes(random: Random, file: Buffer): Buffer {
  const at =
    random() < 0.5 ? below(random, file.length) : Math.max(0, file.length - 1 - below(random, 600));
  const end = Math.min(file.length, at + 1 + below(random, 200));
  const copy = Buffer.from(file);
  switch (below(random, 6)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << below(random, 8));
      return copy;
    case 1:
      return copy.subarray(0, at);
    case 2:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(end)]);
    case 3:
      return Buffer.concat([copy.subarray(0, end), copy.subarray(at)]);
    case 4:
      if (at + 4 <= copy.length) copy.writeUInt32LE(oneOf(random, NUMBERS), at);
      return copy;
    default:
      return copy.fill(below(random, 256), at, end);
  }
}

const PIECES = [
  ...['<', '>', '&', '&#0;', '&#x110000;', '&b;', '<![CDATA[', ']]>', '<!--'],
  ...['<?xml version="1.1"?>', '<!DOCTYPE x [<!ENTITY b "c">]>', '<a>'.repeat(70)],
  ...['<row r="1048577">', '<c r="XFE1"/>', '<c r="ZZZZZZZZZ9"/>'],
  ...['<c t="s"><v>999999999</v></c>', '<c><v>1e999999999</v></c>'],
  ...[`<c><v>${'9'.repeat(5_000)}x</v></c>`, '<f>1+1</f>'],
  ...[`<numFmt numFmtId="1" formatCode="${'['.repeat(2_000)}"/>`],
  ...[`<xf numFmtId="${'1'.repeat(2_000)}"/>`],
  ...[`<si><t>${'_x0041_'.repeat(2_000)}</t></si>`],
  ...[`<x:y xmlns:x="${MAIN}" ${Array.from({ length: 500 }, (_, at) => `a${at}="b"`).join(' ')}/>`],
  ...['\u0000', '\ufffe', ' '.repeat(10_000)],
];

/** Parts whose XML was cut, doubled, exchanged or filled with what does not belong there, in a zip without fault. */
function brokenXml(random: Random): Buffer {
  const parts = soundParts();
  const changed = new Map<number, string>();
  for (let changes = 1 + below(random, 4); changes > 0; changes -= 1) {
    const which = below(random, parts.length);
    changed.set(
      which,
      changedText(random, changed.get(which) ?? parts[which]?.data.toString() ?? ''),
    );
  }
  if (random() < 0.1) parts.splice(below(random, parts.length), 1);
  return zipOf(parts.map((part, at) => ({ ...part, data: changed.get(at) ?? part.data })));
}

function changedText(random: Random, text: string): string {
  const at = below(random, text.length);
  const end = Math.min(text.length, at + 1 + below(random, 300));
  switch (below(random, 5)) {
    case 0:
      return (
        text.slice(0, at) + oneOf(random, PIECES).repeat(1 + below(random, 3)) + text.slice(at)
      );
    case 1:
      return text.slice(0, at);
    case 2:
      return text.slice(0, at) + text.slice(end);
    case 3:
      return text.slice(0, end) + text.slice(at);
    default:
      return text.slice(0, at) + String.fromCharCode(below(random, 0x300)) + text.slice(at + 1);
  }
}

const TOKENS = [
  ...[',', ';', '"', '""', '\n', '\r', '\r\n', '\t', '=1+1', '$nobody-of-all'],
  ...['+573001112233', '100000', '1e400', '-1', 'COPM', 'DUSD', 'ñ'.repeat(200)],
  ...['x'.repeat(3_000), ','.repeat(120), '"'.repeat(51), '\u202e', '\ufeff'],
];

/** A sound header, mostly, and then any bytes; sometimes bytes that are not UTF-8. */
function brokenCsv(random: Random): Buffer {
  let text = random() < 0.8 ? `${HEADER.join(random() < 0.5 ? ',' : ';')}\n` : '';
  for (let tokens = below(random, 2_000); tokens > 0; tokens -= 1) text += oneOf(random, TOKENS);
  const file = Buffer.from(text);
  return random() < 0.3 ? changedBytes(random, Buffer.concat([file, Buffer.from('.')])) : file;
}
