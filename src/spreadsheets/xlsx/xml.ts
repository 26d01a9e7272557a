import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import {
  MAX_CELL_LENGTH,
  type ReadingBudget,
  type ReadingLimits,
  SheetProblem,
  unreadable,
} from '../sheet.js';

export interface PartReader {
  /** `name` has no prefix, and is '' in other namespaces. `depth` of the root is 1. */
  open(name: string, attributes: Readonly<Record<string, string>>, depth: number): void;
  close?(name: string, depth: number): void;
  text?(text: string): void;
}

/** Main namespace, in ordinary and strict files, and the namespaces of the package's own parts. */
const NAMESPACES: ReadonlySet<string> = new Set([
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main',
  'http://schemas.openxmlformats.org/package/2006/relationships',
]);

const DEEPEST = 64;
/** Longer texts, tags and comments are refused, because they could only be meant to fill the memory. */
const MAX_TOKEN = 1024 * 1024;
/** Bytes that are decoded and parsed without a pause. Slices of bytes are read faster than of text. */
const PIECE_BYTES = 32 * 1024;

const NOT_WELL_FORMED =
  'a part of the workbook is not well-formed: open and save it again with your spreadsheet program';

/**
 * Parses a part and yields regularly, so that the caller can take the collected rows. Refuses a
 * DTD, and therefore every entity. Throws `SheetProblem`.
 */
export async function* readPart(
  bytes: AsyncIterable<Buffer>,
  budget: ReadingBudget,
  reader: PartReader,
): AsyncGenerator<void> {
  const document = new Document(reader, budget);
  for await (const text of decodeText(bytes)) {
    document.write(text);
    await budget.yieldIfDue();
    yield;
  }
  document.end();
  yield;
}

export function isTrue(attribute: string | undefined): boolean {
  return attribute === '1' || attribute === 'true';
}

export async function readWholePart(
  bytes: AsyncIterable<Buffer>,
  budget: ReadingBudget,
  reader: PartReader,
): Promise<void> {
  for await (const _ of readPart(bytes, budget, reader));
}

class Document {
  private readonly parser = new SaxesParser<{ xmlns: false; position: false }>({
    xmlns: false,
    position: false,
  });
  private prefix: string | null = null;
  private depth = 0;
  private sinceEvent = 0;

  constructor(
    private readonly reader: PartReader,
    private readonly budget: ReadingBudget,
  ) {
    const { parser } = this;
    // With an eighth handler, V8 stores the parser's fields in a dictionary, and parsing takes five
    // times as long.
    parser.on('doctype', () => {
      throw unreadable('the workbook has a document type, which no spreadsheet program writes');
    });
    parser.on('opentag', ({ name, attributes }) => this.open(name, attributes));
    parser.on('closetag', ({ name }) => this.close(name));
    const text = (piece: string): void => {
      this.sinceEvent = 0;
      reader.text?.(piece);
    };
    parser.on('text', text);
    parser.on('cdata', text);
    parser.on('comment', () => this.noteEvent());
    parser.on('processinginstruction', () => this.noteEvent());
  }

  write(text: string): void {
    this.budget.countMarks(ampersands(text));
    this.sinceEvent += text.length;
    this.translateErrors(() => this.parser.write(text));
    if (this.sinceEvent > MAX_TOKEN)
      throw unreadable('a text in the workbook has more than a million characters');
  }

  end(): void {
    this.translateErrors(() => this.parser.close());
  }

  private translateErrors(step: () => void): void {
    try {
      step();
    } catch (failure) {
      // Errors thrown by the parser itself have the class `Error`.
      throw failure instanceof Error && failure.name === 'Error'
        ? unreadable(NOT_WELL_FORMED)
        : failure;
    }
  }

  private open(name: string, attributes: Record<string, string>): void {
    this.noteEvent();
    let count = 0;
    for (const _ in attributes) count += 1;
    this.budget.countMarks(count);
    this.depth += 1;
    if (this.depth > DEEPEST) throw unreadable(NOT_WELL_FORMED);
    if (this.prefix === null) {
      const { encoding } = this.parser.xmlDecl;
      if (encoding !== undefined && !/^(utf-?8|utf-16|us-ascii)$/i.test(encoding))
        throw unreadable(NOT_WELL_FORMED);
      this.prefix = rootPrefix(name, attributes);
    }
    this.reader.open(this.localName(name), attributes, this.depth);
  }

  private close(name: string): void {
    this.sinceEvent = 0;
    this.reader.close?.(this.localName(name), this.depth);
    this.depth -= 1;
  }

  private noteEvent(): void {
    this.sinceEvent = 0;
    this.budget.countMarks(1);
  }

  private localName(name: string): string {
    const { prefix } = this;
    if (prefix === '') return name.includes(':') ? '' : name;
    return prefix !== null && name.startsWith(prefix) ? name.slice(prefix.length) : '';
  }
}

/** Returns `x:` for `<x:worksheet>` if x is a known namespace. */
function rootPrefix(name: string, attributes: Readonly<Record<string, string>>): string {
  const colon = name.indexOf(':');
  const space = attributes[colon < 0 ? 'xmlns' : `xmlns:${name.slice(0, colon)}`];
  if (space === undefined || !NAMESPACES.has(space)) throw unreadable('the file is not a workbook');
  return name.slice(0, colon + 1);
}

function ampersands(text: string): number {
  let count = 0;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) count += 1;
  return count;
}

/** Decodes UTF-8 or UTF-16, which the first bytes determine. */
async function* decodeText(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: TextDecoder | null = null;
  let head: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of bytes) {
      head = decoder === null ? Buffer.concat([head, piece]) : piece;
      if (decoder === null && head.length < 2) continue;
      decoder ??= new TextDecoder(encodingOf(head), { fatal: true });
      for (let at = 0; at < head.length; at += PIECE_BYTES)
        yield decoder.decode(head.subarray(at, at + PIECE_BYTES), { stream: true });
    }
    yield decoder?.decode() ?? '';
  } catch (failure) {
    throw failure instanceof TypeError ? unreadable(NOT_WELL_FORMED) : failure;
  }
}

function encodingOf(head: Buffer): string {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0x3c && second === 0) return 'utf-16le';
  return first === 0 && second === 0x3c ? 'utf-16be' : 'utf-8';
}

const TEXTS_BYTES = 1024 * 1024;

/**
 * Shared strings as UTF-8 in large pieces: separate strings would take several times as much
 * memory, and a hostile file could have hundreds of MiB of them.
 */
export class SharedStrings {
  private readonly pieces: Buffer[] = [];
  /** End of the last text of each piece, as an offset in the piece. */
  private readonly pieceEnds: number[] = [];
  /** Offset in all pieces together. A text ends where the next one in its piece begins. */
  private starts = new Uint32Array(1024);
  private count = 0;
  private used = TEXTS_BYTES;

  constructor(private readonly limits: Pick<ReadingLimits, 'textBytes' | 'texts'>) {}

  /** Throws `SheetProblem` `too_large_inflated`. */
  add(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.used + length > TEXTS_BYTES) {
      if (this.pieces.length * TEXTS_BYTES >= this.limits.textBytes) throw tooLarge();
      this.pieces.push(Buffer.allocUnsafe(TEXTS_BYTES));
      this.used = 0;
    }
    if (this.count >= this.limits.texts) throw tooLarge();
    if (this.count === this.starts.length) this.grow();
    const last = this.pieces.length - 1;
    this.pieces[last]?.write(text, this.used);
    this.starts[this.count] = last * TEXTS_BYTES + this.used;
    this.used += length;
    this.pieceEnds[last] = this.used;
    this.count += 1;
  }

  /** Throws `SheetProblem` `unreadable_file` for an index that does not exist. */
  at(index: number): string {
    const start = this.starts[index];
    if (start === undefined || index >= this.count)
      throw unreadable('a cell refers to a text that the workbook does not have');
    const number = Math.floor(start / TEXTS_BYTES);
    const base = number * TEXTS_BYTES;
    const next = index + 1 < this.count ? (this.starts[index + 1] ?? 0) - base : Infinity;
    const end = Math.min(next, this.pieceEnds[number] ?? 0);
    return this.pieces[number]?.toString('utf8', start - base, end) ?? '';
  }

  private grow(): void {
    const bigger = new Uint32Array(this.starts.length * 2);
    bigger.set(this.starts);
    this.starts = bigger;
  }
}

function tooLarge(): SheetProblem {
  return new SheetProblem('too_large_inflated', 'the texts of the workbook take more than 64 MiB');
}

/** Text of one element, cut at the maximum length of a cell. */
export class TextBuffer {
  private text = '';

  add(piece: string): void {
    if (this.text.length < MAX_CELL_LENGTH)
      this.text += piece.slice(0, MAX_CELL_LENGTH - this.text.length);
  }

  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

/** Decodes sequences like `_x000D_`, which represent characters that XML cannot contain. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
