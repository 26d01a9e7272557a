import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import multer, { type StoreDone } from '@koa/multer';
import { MulterError } from 'multer';
import {
  ApiError,
  type FieldProblem,
  fieldRefusal,
  invalidField,
  type Refusal,
} from '../core/errors.js';
import { assertStructure } from './input.js';
import {
  afterReading,
  assertPlain,
  bodyTimeout,
  RequestAborted,
  waitsForContinue,
} from './request-body.js';
import { uploadSlotLost, type UploadSlot } from './upload-slots.js';

const MIB = 1024 * 1024;
/** The size limit of a file. (docs/contract.md, Upload) */
export const MAX_FILE_BYTES = 10 * MIB;
/** The size of the pieces in which a file is stored; the last may be smaller. */
const FILE_PIECE_BYTES = MIB;
/** The size limit of everything but the file: fields, boundaries and part headers. */
const MAX_REST_BYTES = 64 * 1024;
const MAX_FIELD_BYTES = 8 * 1024;
const MAX_PARTS = 32;
/** The file part's documented name; clients may use any. */
export const FILE_FIELD = 'file';
export const NO_FILE_MESSAGE =
  'no file has arrived: send it as a file part with a name (filename="rows.csv"), not as text';

const FORM_TYPE = /^multipart\/form-data[\t ]*;/i;
const TOO_LARGE: Refusal = {
  code: 'body_too_large',
  message: `the file has more than ${MAX_FILE_BYTES} bytes, the most that this operation accepts`,
};
const MALFORMED = invalidField('', 'malformed_multipart');
const MISSING_FILE: FieldProblem = { code: 'missing_field', field: FILE_FIELD, reason: 'required' };

export interface UploadedFile {
  readonly size: number;
  readonly sha256: Buffer;
  readonly pieces: readonly Buffer[];
}

/** Content of a request: JSON, or a form's text fields as the equivalent JSON and its file. */
export interface UploadContent {
  readonly fields: unknown;
  /** Null if a form has no file, which is then the first problem. */
  readonly file: UploadedFile | null;
  readonly problems: readonly FieldProblem[];
}

/** Throws 415 unless the body is an uncompressed multipart form. */
export function assertForm(request: IncomingMessage): void {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? ''))
    throw new ApiError({
      code: 'unsupported_media_type',
      message: 'the Content-Type must be multipart/form-data, with its boundary',
    });
  assertPlain(request);
}

/** Throws 413, 400 (no form, incomplete or late), 429 (slot lost), RequestAborted. */
export async function readUpload(
  request: IncomingMessage,
  response: ServerResponse,
  limitMs: number,
  slot: UploadSlot,
): Promise<UploadContent> {
  // No further event follows if the client disconnected during the token check.
  if (request.destroyed) throw new RequestAborted();
  // Another upload may have taken the slot meanwhile.
  if (slot.lost.aborted) throw uploadSlotLost();
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > MAX_FILE_BYTES + MAX_REST_BYTES) throw new ApiError(TOO_LARGE);
  if (waitsForContinue(request)) response.writeContinue();
  const form = new Form(request.headers, slot);
  const timer = setTimeout(() => afterReading(() => form.destroy(bodyTimeout())), limitMs);
  const lost = (): void => void form.destroy(uploadSlotLost());
  // `close` is also emitted after a complete request.
  const gone = (): void => void (request.complete || form.destroy(new RequestAborted()));
  slot.lost.addEventListener('abort', lost, { once: true });
  request.on('close', gone).on('error', gone);
  try {
    // stream.pipeline would destroy the connection that the response needs.
    request.pipe(form);
    await receive({ req: form, res: response }, () => {});
    slot.arrived();
    return form.content();
  } catch (fault) {
    throw refusalOf(fault);
  } finally {
    clearTimeout(timer);
    slot.lost.removeEventListener('abort', lost);
    request.off('close', gone).off('error', gone).unpipe(form);
  }
}

/** Passes a body on to multer, which stores the form's fields and files in this object. */
class Form extends Transform {
  readonly body?: Readonly<Record<string, unknown>>;
  /** Undefined if the request has no body. */
  readonly files?: readonly { readonly fieldname: string; readonly content?: UploadedFile }[];
  private readonly problems: FieldProblem[] = [];
  private received = 0;

  constructor(
    readonly headers: IncomingMessage['headers'],
    private readonly slot: UploadSlot,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.received += chunk.length;
    this.slot.received(chunk.length);
    if (this.received > MAX_FILE_BYTES + MAX_REST_BYTES) done(new ApiError(TOO_LARGE));
    else done(null, chunk);
  }

  problem(field: string, reason: string): void {
    this.problems.push({ code: 'invalid_field', field, reason });
  }

  content(): UploadContent {
    const { body: fields = {}, files, problems } = this;
    if (files === undefined) throw formRefusal(MALFORMED);
    assertStructure(fields);
    for (const [name, value] of Object.entries(fields)) {
      if (Array.isArray(value) && value.length > 1) this.problem(name, 'repeated');
      // multer decodes invalid UTF-8 as U+FFFD, and text in an unknown encoding as undefined.
      else if (value === undefined || (typeof value === 'string' && value.includes('\ufffd')))
        this.problem(name, 'not_utf8');
    }
    const [file, second] = files;
    if (second !== undefined) this.problem(FILE_FIELD, 'repeated');
    if (file?.content === undefined)
      return {
        fields,
        file: null,
        problems: [MISSING_FILE, ...problems.filter(({ field }) => field !== FILE_FIELD)],
      };
    if (file.fieldname in fields) this.problem(file.fieldname, 'repeated');
    return { fields, file: file.content, problems };
  }
}

interface PartInfo {
  readonly filename?: string;
  readonly encoding: string;
}

/** Transfer encodings that leave the bytes as they are. */
const PLAIN_ENCODINGS: readonly string[] = ['7bit', '8bit', 'binary'];

const receive = multer<Form>({
  storage: { _handleFile: storeFile, _removeFile: (_form, _file, done) => done(null) },
  defParamCharset: 'utf8',
  limits: {
    fieldSize: MAX_FIELD_BYTES,
    fileSize: MAX_FILE_BYTES,
    parts: MAX_PARTS,
    fieldArrayIndexLimit: MAX_PARTS,
  },
  streamHandler: (form, parser) => {
    const refuseEncoded = (name: string | undefined, { encoding }: PartInfo): void => {
      if (!PLAIN_ENCODINGS.includes(encoding)) form.problem(name ?? '', 'transfer_encoding');
    };
    // multer skips a file part without a file name, such as a browser's empty file field.
    parser.on('file', (name: string | undefined, _stream: Readable, info: PartInfo) => {
      if (!info.filename) form.problem(name ?? '', 'not_a_string');
      refuseEncoded(name, info);
    });
    parser.on('field', (name: string | undefined, _value: string, info: PartInfo) =>
      refuseEncoded(name, info),
    );
    // multer reports a rejected form only once it has ended.
    parser.once('unpipe', () => form.destroy());
    form.pipe(parser);
  },
}).any();

/** Collects pieces and hash of the form's first file. */
function storeFile(
  { files = [] }: Form,
  { stream }: { readonly stream: Readable },
  done: StoreDone,
): void {
  if (files.length > 1) {
    stream.resume();
    done(null);
    return;
  }
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  let size = 0;
  // Chunks are copied, because a sender can make every byte a chunk with a buffer of its own.
  stream.on('data', (bytes: Buffer) => {
    hash.update(bytes);
    for (let at = 0; at < bytes.length;) {
      const used = size % FILE_PIECE_BYTES;
      if (used === 0) pieces.push(Buffer.allocUnsafeSlow(FILE_PIECE_BYTES));
      const length = Math.min(bytes.length - at, FILE_PIECE_BYTES - used);
      pieces.at(-1)?.set(bytes.subarray(at, at + length), used);
      at += length;
      size += length;
    }
  });
  stream.once('limit', () => done(new ApiError(TOO_LARGE)));
  stream.once('end', () => {
    const last = pieces.pop();
    if (last !== undefined) pieces.push(last.subarray(0, size - pieces.length * FILE_PIECE_BYTES));
    done(null, { content: { size, sha256: hash.digest(), pieces } });
  });
}

/** Any error of multer is a fault of the form. */
function refusalOf(fault: unknown): unknown {
  if (fault instanceof ApiError || fault instanceof RequestAborted) return fault;
  if (!(fault instanceof MulterError)) return formRefusal(MALFORMED);
  const { code, field = '' } = fault;
  if (code === 'LIMIT_FILE_SIZE') return formRefusal(TOO_LARGE);
  if (code !== 'LIMIT_FIELD_VALUE') return formRefusal(MALFORMED);
  // The client has sent the file's content as a text field.
  if (field === FILE_FIELD)
    return formRefusal({ ...fieldRefusal([MISSING_FILE]), message: NO_FILE_MESSAGE });
  return formRefusal(invalidField(field, 'too_long'));
}

/** Closes the connection, because the client may never finish sending the form. */
function formRefusal(refusal: Refusal): ApiError {
  return new ApiError(refusal, { Connection: 'close' });
}
