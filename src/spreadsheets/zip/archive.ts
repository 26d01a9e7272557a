import { Readable, pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import yauzl, { type Entry } from 'yauzl';
import {
  type ByteSource,
  piecesOf,
  type ReadingBudget,
  SheetProblem,
  unreadable,
} from '../sheet.js';

/** A workbook has a few dozen entries, or hundreds with many pictures. */
const MAX_ENTRIES = 2_000;
const STORED = 0;
const DEFLATED = 8;
/** Without the name and the extra fields, whose lengths are at offsets 26 and 28. */
const LOCAL_HEADER_BYTES = 30;
const LOCAL_HEADER_SIGNATURE = 0x04034b50;
const INFLATE_PIECE_BYTES = 64 * 1024;

/** An alternative name, which only some readers use and no program writes into a workbook. */
const UNICODE_PATH = 0x7075;

const DAMAGED = 'the file is damaged or was not sent whole';

/**
 * A zip archive. Reading an entry compares the central directory with the local header, sizes and checksum, so
 * that two readers cannot see different files in one zip.
 */
export class Archive {
  private constructor(
    private readonly source: ByteSource,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  static async open(source: ByteSource): Promise<Archive> {
    try {
      const reader = new SourceReader(source);
      const zip = await yauzl.fromRandomAccessReaderPromise(reader, source.size, {
        autoClose: false,
      });
      if (zip.entryCount > MAX_ENTRIES)
        throw unreadable(`the file has more than ${MAX_ENTRIES} parts`);
      const entries = new Map<string, Entry>();
      for await (const entry of zip.eachEntry()) {
        if (entry.extraFields.some(({ id }) => id === UNICODE_PATH)) throw unreadable(DAMAGED);
        const name = partKey(entry.fileName);
        if (entries.has(name))
          throw unreadable(
            `the file has two parts of the same name (${printable(entry.fileName)})`,
          );
        entries.set(name, entry);
      }
      return new Archive(source, entries);
    } catch (failure) {
      throw failure instanceof SheetProblem ? failure : unreadable(DAMAGED);
    }
  }

  has(name: string): boolean {
    return this.entries.has(partKey(name));
  }

  /** Yields the content of an entry and counts it while it is inflated. Throws `SheetProblem`. */
  async *read(name: string, budget: ReadingBudget): AsyncGenerator<Buffer> {
    const entry = this.entries.get(partKey(name));
    if (entry === undefined) throw unreadable(`the workbook lacks a part (${printable(name)})`);
    if (entry.isEncrypted())
      throw unreadable('the file is protected with a password: save it without one');
    if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
      throw unreadable('the file is packed in a way that workbooks do not use');
    const start = this.dataStart(entry);
    let size = 0;
    let checksum = 0;
    for await (const piece of this.inflated(entry, start)) {
      budget.countInflated(piece.length);
      size += piece.length;
      if (size > entry.uncompressedSize) throw unreadable(DAMAGED);
      checksum = crc32(piece, checksum);
      yield piece;
    }
    if (size !== entry.uncompressedSize || checksum !== entry.crc32) throw unreadable(DAMAGED);
  }

  /** Returns the offset of an entry's data. Throws unless the local header agrees with the directory. */
  private dataStart(entry: Entry): number {
    const at = entry.relativeOffsetOfLocalHeader;
    const headerBytes = LOCAL_HEADER_BYTES + entry.fileNameLength;
    if (at + headerBytes > this.source.size) throw unreadable(DAMAGED);
    const header = this.source.read(at, headerBytes);
    const nameLength = header.readUInt16LE(26);
    const start = at + LOCAL_HEADER_BYTES + nameLength + header.readUInt16LE(28);
    const isSame =
      header.readUInt32LE(0) === LOCAL_HEADER_SIGNATURE &&
      nameLength === entry.fileNameLength &&
      header.readUInt16LE(8) === entry.compressionMethod &&
      header.subarray(LOCAL_HEADER_BYTES).equals(entry.fileNameRaw);
    if (!isSame || start + entry.compressedSize > this.source.size) throw unreadable(DAMAGED);
    return start;
  }

  private async *inflated(entry: Entry, start: number): AsyncGenerator<Buffer> {
    const packed = piecesOf(this.source, start, start + entry.compressedSize);
    if (entry.compressionMethod === STORED) {
      yield* packed;
      return;
    }
    const inflate = createInflateRaw({ chunkSize: INFLATE_PIECE_BYTES });
    // A failure of either stream destroys both, and the loop below throws it.
    pipeline(Readable.from(packed), inflate, () => {});
    try {
      yield* inflate;
    } catch (failure) {
      throw isZlibFailure(failure) ? unreadable(DAMAGED) : failure;
    }
  }
}

/** Ignores case, because some programs refer to parts in a different case. */
function partKey(name: string): string {
  return name.toLowerCase();
}

function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 80);
}

function isZlibFailure(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && String(failure.code).startsWith('Z_');
}

class SourceReader extends yauzl.RandomAccessReader {
  constructor(private readonly source: ByteSource) {
    super();
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const isWithin = position >= 0 && position + length <= this.source.size;
    if (isWithin) this.source.read(position, length).copy(buffer, offset);
    queueMicrotask(() => callback(isWithin ? null : unreadable(DAMAGED)));
  }
}
