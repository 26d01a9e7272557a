/**
 * A route of the API reads as a sentence. Each step is both a check and its description in the
 * OpenAPI document:
 *
 * api.post( '/v1/transfers', named('createTransfer'), permits('createTransfer'), idempotent,
 * body(CreateTransfer), answers({ 201: TransferSchema, 202: TransferSchema, 200: TransferSchema }),
 * refuses('not_found', 'insufficient_funds', 'below_minimum'), summary('Send a transfer'), async ({
 * caller, body, idempotency }) => { const answer = await transfers.create(caller, body,
 * idempotency); return answerOf(answer, (transfer, replayed) => ({ status: replayed ? 200 : 201,
 * body: present(transfer), })); }, );
 *
 * Files: `upload(UploadForm)` in place of `body(…)` gives `request.file`. `answersFile('text/csv')`
 * in place of `answers(…)` sends
 * `file: { contentType, name, write: (out) => pipeline(pieces, out) }`.
 *
 * Lists: `query(z.strictObject({ ...PAGE_QUERY, ...CREATED_AT_QUERY }))`; `cursors.decode` and
 * `cursors.encode`, both with `cursorBinding(request)`, read and make the cursor. Schemas take `z`
 * from http/zod.js and fields from http/schemas.js.
 *
 * The order of the steps does not matter: the checks run in the order of the contract. A handler
 * that is declared separately names the steps that it needs:
 * `(request: WithCaller & WithBody<typeof CreateTransfer>)`.
 */
import type { Writable } from 'node:stream';
import { type ErrorCode, notFound, SPENDING_CODES } from '../core/errors.js';
import type { Fingerprint } from '../core/fingerprint.js';
import { newId, parseUuid, type Uuid } from '../core/ids.js';
import type { Caller, Operation } from '../core/permissions.js';
import type { ApiVersion } from '../core/versions.js';
import type { RateClass } from './rate-limit.js';
import type { UploadedFile } from './upload.js';
import type { z } from './zod.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** The response of a handler. Without `body` it is empty (204). */
export interface ApiAnswer {
  readonly status: number;
  /** Plain data, serialised once as JSON. */
  readonly body?: unknown;
  readonly file?: FileAnswer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A file that is sent while it is written. */
export interface FileAnswer {
  readonly contentType: string;
  /** The name under which a browser saves the file: letters, digits, `.`, `-` and `_`. */
  readonly name: string;
  /**
   * Writes the content and ends `out`, at the rate that `out` accepts. A rejection before the first
   * byte is answered like a handler's; later the connection is cut, so that a part is not mistaken
   * for the whole. `out` is destroyed when the client disconnects. Not called for HEAD.
   */
  readonly write: (out: Writable) => Promise<void>;
}

/** The key and fingerprint that bind a repeated request to its first result. */
interface Idempotency {
  /** In lower case. */
  readonly key: Uuid;
  readonly fingerprint: Fingerprint;
}

interface WithCaller {
  readonly caller: Caller;
}
interface WithBody<S extends z.ZodType> {
  readonly body: z.output<S>;
}
interface WithFile {
  readonly file: UploadedFile;
}
interface WithQuery<S extends z.ZodType> {
  readonly query: z.output<S>;
}
interface WithIdempotency {
  readonly idempotency: Idempotency;
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

interface BaseRequest<Name extends string = never> extends WithCaller {
  readonly requestId: Uuid;
  readonly version: ApiVersion;
  /** The route's template with its parameters filled in, each decoded. */
  readonly path: string;
  readonly params: Readonly<Record<Name, string>>;
}

/**
 * The request as the pipeline makes it; parts that the route did not request are undefined or null.
 */
export interface AnyRequest extends BaseRequest<string> {
  readonly body: unknown;
  readonly file: UploadedFile | null;
  readonly query: unknown;
  readonly idempotency: Idempotency | null;
}

export interface RouteParts {
  /** The operation's name in the document and in generated clients: `createTransfer`. */
  readonly operationId: string;
  readonly operation: Operation | null;
  readonly rateClass: RateClass;
  /** Whether an Idempotency-Key is required, and whether it is also bound to the member. */
  readonly idempotent: 'tenant' | 'member' | null;
  readonly body: z.ZodType | null;
  /** The body is a multipart form: `body` describes its text fields, and a file belongs to it. */
  readonly hasFile: boolean;
  readonly query: z.ZodType | null;
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  /** Examples of responses by status, instead of the schema's own. */
  readonly examples: Readonly<Record<number, unknown>>;
  /** The content types of a 200 response with a file; empty for JSON. */
  readonly fileTypes: readonly string[];
  readonly refusals: readonly ErrorCode[];
  readonly summary: string;
  readonly description: string;
}

export interface Route extends RouteParts {
  readonly method: Method;
  /** `/v1/transfers/{id}` */
  readonly path: string;
  readonly operation: Operation;
  readonly handler: (request: AnyRequest) => Promise<ApiAnswer>;
}

/** A step of a route. `Adds` is the data that the step gives to the handler. */
export interface Step<Adds = unknown> {
  readonly parts: Partial<RouteParts>;
  /** Only carries the type; never set. */
  readonly adds?: Adds;
}

type AddsOf<S> = S extends Step<infer Adds> ? (adds: Adds) => void : never;
type AllAdds<Steps extends readonly Step[]> = [AddsOf<Steps[number]>] extends [never]
  ? unknown
  : AddsOf<Steps[number]> extends (adds: infer All) => void
    ? All
    : never;

export type RequestOf<Path extends string, Steps extends readonly Step[]> = BaseRequest<
  ParamName<Path>
> &
  AllAdds<Steps>;

export type Handler<Request> = (request: Request) => Promise<ApiAnswer>;

/**
 * Sets the name that clients use: a verb and a noun. `list` a collection, `get` one resource,
 * `create`, `set` by PUT, `update` by PATCH, `delete`; `download` a file; otherwise the verb at the
 * end of the path.
 */
export function named(operationId: string): Step {
  return { parts: { operationId } };
}

/**
 * Requires one of the operation's scopes; the feature, which knows the account, checks the role.
 */
export function permits(operation: Operation): Step {
  return { parts: { operation } };
}

/**
 * Requires an Idempotency-Key, because the route moves money or must not act twice. A fault of the
 * service is answered with 503, never 500.
 */
export const idempotent: Step<WithIdempotency> = { parts: { idempotent: 'tenant' } };

/**
 * Requires an Idempotency-Key that is bound to the member: another member with the same key gets
 * 409 (approve, execute).
 */
export const idempotentPerMember: Step<WithIdempotency> = { parts: { idempotent: 'member' } };

/** Sets the schema of the JSON body. Use z.strictObject, so that an unknown field is refused. */
export function body<S extends z.ZodType>(schema: S): Step<WithBody<S>> {
  return { parts: { body: schema } };
}

/**
 * Requires a multipart form with exactly one file, under any name, and the schema's
 * text fields, which are checked like those of a JSON body. The handler reads the file. Counts as
 * an upload.
 */
export function upload<S extends z.ZodObject>(schema: S): Step<WithBody<S> & WithFile> {
  return { parts: { body: schema, hasFile: true, rateClass: 'uploads' } };
}

/**
 * Sets the query parameters, a z.strictObject of fields that parse text. Without this step every
 * parameter is unknown.
 */
export function query<S extends z.ZodType>(schema: S): Step<WithQuery<S>> {
  return { parts: { query: schema } };
}

/** Documents the bodies of successful responses by status; null for a response without a body. */
export function answers(schemas: Readonly<Record<number, z.ZodType | null>>): Step {
  return { parts: { answers: schemas } };
}

/**
 * Sets the document's example for a status, if the schema's own would mislead, or for a text file.
 */
export function shows(examples: Readonly<Record<number, unknown>>): Step {
  return { parts: { examples } };
}

/** Declares that the 200 response is a file (ApiAnswer.file) of one of these content types. */
export function answersFile(...contentTypes: readonly [string, ...string[]]): Step {
  return { parts: { answers: { 200: null }, fileTypes: contentTypes } };
}

/**
 * Declares the codes with which the handler itself may refuse, besides those of the other steps.
 */
export function refuses(...codes: readonly ErrorCode[]): Step {
  return { parts: { refusals: codes } };
}

/** The codes of every operation that takes money out of an account, besides its own rules. */
export const refusesSpending = refuses('not_found', ...SPENDING_CODES);

export function limitedAs(rateClass: RateClass): Step {
  return { parts: { rateClass } };
}

/** Sets a short name for the operation, and further explanation (Markdown). */
export function summary(text: string, description = ''): Step {
  return { parts: { summary: text, description } };
}

/** Returns the id in the path. Throws not_found if it is not a UUID. */
export function pathId<Name extends string>(
  request: { readonly params: Readonly<Record<Name, string>> },
  name: Name,
): Uuid {
  const id = parseUuid(request.params[name]);
  if (id === null) throw notFound();
  return id;
}

/**
 * Returns the id in the path for an operation that reads its key first: text that is not a UUID
 * becomes an id of no resource.
 */
export function keyedPathId<Name extends string>(
  request: { readonly params: Readonly<Record<Name, string>> },
  name: Name,
): Uuid {
  return parseUuid(request.params[name]) ?? newId();
}
