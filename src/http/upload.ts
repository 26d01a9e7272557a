import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { ApiError, type FieldProblem, invalidField, type Refusal } from '../core/errors.js';
import { headerText } from './headers.js';
import { assertStructure } from './json-body.js';
import { afterReading, assertPlain, notInTime, RequestAborted, waitsForContinue } from './request-body.js';
import { placeLost, type UploadPlace } from './upload-places.js';

const MIB = 1024 * 1024;
/** The most that an uploaded file may have. (docs/contract.md, Upload) */
export const MAX_FILE_BYTES = 10 * MIB;
/** The file's bytes come in pieces of this size, except the last, as they are stored. */
export const FILE_PIECE_BYTES = MIB;
/** How much may come besides the file: fields, boundaries, part headers. */
const MAX_REST_BYTES = 64 * 1024;
const MAX_FIELD_BYTES = 8 * 1024;
const MAX_PARTS = 32;
/** The file part's name in the documentation and in errors; a client may call it anything. */
export const FILE_FIELD = 'file';
export const NO_FILE = 'no file has arrived: send it as a file part with a name (filename="payroll.csv"), not as text';

const FORM_TYPE = /^multipart\/form-data[\t ]*;/i;
const TOO_LARGE: Refusal = {
  code: 'body_too_large',
  message: `the file has more than ${MAX_FILE_BYTES} bytes, the most that this operation accepts`,
};

export interface UploadedFile {
  readonly size: number;
  readonly sha256: Buffer;
  /** In order, each of FILE_PIECE_BYTES except the last; none for an empty file. */
  readonly pieces: readonly Buffer[];
}

/** A multipart form as sent: its text fields as the equivalent JSON object, and its file. */
interface UploadContent {
  readonly fields: unknown;
  /** Null if the form has no file, which is then the first of the problems. */
  readonly file: UploadedFile | null;
  readonly problems: readonly FieldProblem[];
}

/** Throws 415 unless the body is declared as an uncompressed multipart form. */
export function assertForm(request: IncomingMessage): void {
  if (!FORM_TYPE.test(headerText(request, 'content-type') ?? ''))
    throw new ApiError({
      code: 'unsupported_media_type',
      message: 'the Content-Type must be multipart/form-data, with its boundary',
    });
  assertPlain(request);
}

/**
 * Reads the form as it arrives, and keeps no more of it than is allowed. Throws 413 `body_too_large` while reading, 400
 * if it is not a form, ends too early or takes longer than `limitMs`, 429 if the place is lost, RequestAborted.
 */
export async function readUpload(
  request: IncomingMessage,
  response: ServerResponse,
  limitMs: number,
  place: UploadPlace,
): Promise<UploadContent> {
  // The client may have gone while its token was looked up; then no event would come, and its place would stay taken.
  if (request.destroyed) throw new RequestAborted();
  // A newcomer may have taken it over in the very turn in which it was given.
  if (place.lost.aborted) throw placeLost();
  const announced = Number(headerText(request, 'content-length') ?? 0);
  if (announced > MAX_FILE_BYTES + MAX_REST_BYTES) throw new ApiError(TOO_LARGE);
  if (waitsForContinue(request)) response.writeContinue();
  const form = new Form();
  await parseForm(request, form, limitMs, place);
  return form.content();
}

type Parser = ReturnType<typeof busboy>;

function parserOf(request: IncomingMessage): Parser {
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      // busboy considers a field or file at its limit too long, hence one more.
      limits: {
        fieldSize: MAX_FIELD_BYTES + 1,
        fields: MAX_PARTS,
        fileSize: MAX_FILE_BYTES + 1,
        files: MAX_PARTS,
        parts: MAX_PARTS,
      },
    });
  } catch {
    throw malformed();
  }
}

/** Not stream.pipeline, which on failure destroys the request and with it the connection that the answer needs. */
async function parseForm(request: IncomingMessage, form: Form, limitMs: number, place: UploadPlace): Promise<void> {
  const parser = parserOf(request);
  let received = 0;
  let stop = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const tooLarge = (): void => reject(new ApiError(TOO_LARGE));
      const timer = setTimeout(() => afterReading(() => reject(notInTime())), limitMs);
      const lost = (): void => reject(placeLost());
      place.lost.addEventListener('abort', lost, { once: true });
      const count = (chunk: Buffer): void => {
        received += chunk.length;
        place.received(chunk.length);
        if (received > MAX_FILE_BYTES + MAX_REST_BYTES) tooLarge();
      };
      // A complete request is closed too, while its parser may still be at work.
      const gone = (): void => {
        if (!request.complete) reject(new RequestAborted());
      };
      request.on('data', count).on('close', gone).on('error', gone);
      stop = (): void => {
        clearTimeout(timer);
        place.lost.removeEventListener('abort', lost);
        request.off('data', count).off('close', gone).off('error', gone);
      };
      parser.on('file', (name, content, { filename = '' }) => {
        // The parser reports a premature end.
        content.on('error', () => {});
        if (filename === '') form.addNameless(name ?? '', content);
        else form.addFile(name, content, tooLarge);
      });
      parser.on('field', (name, value, info) => form.addField(name ?? '', value, info.valueTruncated));
      parser.on('partsLimit', () => reject(malformed()));
      parser.on('error', () => reject(malformed()));
      parser.on('close', resolve);
      request.pipe(parser);
    });
    place.arrived();
  } finally {
    stop();
    request.unpipe(parser);
    parser.destroy();
  }
}

function malformed(): ApiError {
  return new ApiError(invalidField('', 'malformed_multipart'));
}

class Form {
  // Without a prototype: a field may have any name.
  private readonly values: Record<string, unknown> = Object.create(null);
  private readonly problems: FieldProblem[] = [];
  private readonly names = new Set<string>();
  private file: FileBytes | null = null;

  addField(name: string, value: unknown, isCut: boolean): void {
    if (!this.isNew(name)) return;
    // Invalid UTF-8 has become U+FFFD: the stored text would be corrupted.
    if (isCut) this.problem(name, 'too_long');
    else if (typeof value === 'string' && !value.includes('\ufffd')) this.values[name] = value;
    else this.problem(name, 'not_utf8');
  }

  /** A part without a file name is not a file. Browsers send one for an empty file field. */
  addNameless(name: string, content: Readable): void {
    content.resume();
    if (this.isNew(name)) this.problem(name, 'not_a_string');
  }

  addFile(name: string | undefined, content: Readable, tooLarge: () => void): void {
    if (this.file !== null) {
      this.problem(FILE_FIELD, 'repeated');
      content.resume();
      return;
    }
    if (name !== undefined) this.isNew(name);
    const file = new FileBytes();
    this.file = file;
    content.on('limit', tooLarge).on('data', (bytes: Buffer) => file.add(bytes));
  }

  content(): UploadContent {
    const fields = this.values;
    assertStructure(fields);
    if (this.file !== null) return { fields, file: this.file.finished(), problems: this.problems };
    // A text field of this name has the content of the file, so its own problems say nothing.
    const others = this.problems.filter(({ field }) => field !== FILE_FIELD);
    return {
      fields,
      file: null,
      problems: [{ code: 'missing_field', field: FILE_FIELD, reason: 'required' }, ...others],
    };
  }

  private isNew(name: string): boolean {
    if (this.names.has(name)) this.problem(name, 'repeated');
    const isNew = !this.names.has(name);
    this.names.add(name);
    return isNew;
  }

  private problem(field: string, reason: string): void {
    this.problems.push({ code: 'invalid_field', field, reason });
  }
}

class FileBytes {
  private readonly hash: Hash = createHash('sha256');
  private readonly pieces: Buffer[] = [];
  private size = 0;

  add(bytes: Buffer): void {
    this.hash.update(bytes);
    for (let at = 0; at < bytes.length;) {
      const used = this.size % FILE_PIECE_BYTES;
      if (used === 0) this.pieces.push(Buffer.allocUnsafeSlow(FILE_PIECE_BYTES));
      const length = Math.min(bytes.length - at, FILE_PIECE_BYTES - used);
      this.pieces.at(-1)?.set(bytes.subarray(at, at + length), used);
      at += length;
      this.size += length;
    }
  }

  finished(): UploadedFile {
    const { pieces, size } = this;
    const used = size % FILE_PIECE_BYTES;
    const last = pieces.at(-1);
    if (last !== undefined && used > 0) pieces[pieces.length - 1] = last.subarray(0, used);
    return { size, sha256: this.hash.digest(), pieces };
  }
}
