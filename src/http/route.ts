/**
 * A route reads as a sentence: `api.post('/v1/transfers', named('createTransfer'), permits(…),
 * body(…), answers({ 201: TransferSchema }), refuses(…), summary(…), async ({ caller, body }) =>
 * …)`. Each step is a check and its description in the OpenAPI document. The order of the steps
 * does not matter: the checks run in the order of the contract. `upload(…)` in place of `body(…)`
 * gives `request.file`; `answersFile(…)` in place of `answers(…)` sends `file`.
 */
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

export interface ApiAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly file?: FileAnswer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FileAnswer {
  readonly contentType: string;
  /** The name under which a browser saves the file: letters, digits, `.`, `-` and `_`. */
  readonly name: string;
  /** The content, not read for HEAD. An error after the first piece cuts the connection. */
  readonly pieces: Iterable<Buffer> | AsyncIterable<Buffer>;
}

interface Idempotency {
  readonly key: Uuid;
  readonly fingerprint: Fingerprint;
}

interface WithBody<S extends z.ZodType> {
  readonly body: z.output<S>;
}
interface WithIdempotency {
  readonly idempotency: Idempotency;
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

interface BaseRequest<Name extends string = never> {
  readonly caller: Caller;
  readonly requestId: Uuid;
  readonly version: ApiVersion;
  readonly path: string;
  readonly params: Readonly<Record<Name, string>>;
}

/** Parts that the route did not request are undefined or null. */
export interface AnyRequest extends BaseRequest<string> {
  readonly body: unknown;
  readonly file: UploadedFile | null;
  readonly query: unknown;
  readonly idempotency: Idempotency | null;
}

export interface RouteParts {
  readonly operationId: string;
  readonly operation: Operation | null;
  readonly rateClass: RateClass;
  /** Whether an Idempotency-Key is required, and whether it is also bound to the member. */
  readonly idempotent: 'tenant' | 'member' | null;
  readonly body: z.ZodType | null;
  readonly hasFile: boolean;
  readonly query: z.ZodType | null;
  readonly answers: Readonly<Record<number, z.ZodType | null>>;
  readonly examples: Readonly<Record<number, unknown>>;
  /** The content types of a 200 response with a file; empty for JSON. */
  readonly fileTypes: readonly string[];
  readonly refusals: readonly ErrorCode[];
  readonly summary: string;
  readonly description: string;
}

export interface Route extends RouteParts {
  readonly method: Method;
  readonly path: string;
  readonly operation: Operation;
  readonly handler: (request: AnyRequest) => Promise<ApiAnswer>;
}

export interface Step<Adds = unknown> {
  readonly parts: Partial<RouteParts>;
  /** Never set. Only passes the type on to the handler's request. */
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

/** Sets the name that clients use: a verb and a noun, such as `listTransfers`. */
export function named(operationId: string): Step {
  return { parts: { operationId } };
}

/** Requires one of the operation's scopes; the feature checks the role. */
export function permits(operation: Operation): Step {
  return { parts: { operation } };
}

/** Requires an Idempotency-Key. A fault of the service is answered with 503, never 500. */
export const idempotent: Step<WithIdempotency> = { parts: { idempotent: 'tenant' } };

/** Requires a key that is bound to the member: another member with it gets 409. */
export const idempotentPerMember: Step<WithIdempotency> = { parts: { idempotent: 'member' } };

/** Sets the schema of the JSON body. Use z.strictObject, so that an unknown field is refused. */
export function body<S extends z.ZodType>(schema: S): Step<WithBody<S>> {
  return { parts: { body: schema } };
}

/** Requires a form with exactly one file and the schema's text fields. */
export function upload<S extends z.ZodObject>(
  schema: S,
): Step<WithBody<S> & { readonly file: UploadedFile }> {
  return { parts: { body: schema, hasFile: true, rateClass: 'uploads' } };
}

/** Sets the query parameters. Without this step every parameter is unknown. */
export function query<S extends z.ZodType>(schema: S): Step<{ readonly query: z.output<S> }> {
  return { parts: { query: schema } };
}

/** Documents the bodies of successful responses by status; null for none. */
export function answers(schemas: Readonly<Record<number, z.ZodType | null>>): Step {
  return { parts: { answers: schemas } };
}

/** Sets the document's example for a status, or for a text file. */
export function shows(examples: Readonly<Record<number, unknown>>): Step {
  return { parts: { examples } };
}

/** Declares that the 200 response is a file (ApiAnswer.file) of one of these content types. */
export function answersFile(...contentTypes: readonly [string, ...string[]]): Step {
  return { parts: { answers: { 200: null }, fileTypes: contentTypes } };
}

/** Declares codes with which the handler itself may refuse. */
export function refuses(...codes: readonly ErrorCode[]): Step {
  return { parts: { refusals: codes } };
}

/** The codes of every operation that takes money out of an account. */
export const refusesSpending = refuses('not_found', ...SPENDING_CODES);

export function limitedAs(rateClass: RateClass): Step {
  return { parts: { rateClass } };
}

/** Sets a short name, and further explanation (Markdown). */
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

/** Text that is not a UUID becomes an id of no resource, because the key is read first. */
export function keyedPathId<Name extends string>(
  request: { readonly params: Readonly<Record<Name, string>> },
  name: Name,
): Uuid {
  return parseUuid(request.params[name]) ?? newId();
}
