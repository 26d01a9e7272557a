import { ApiError, type FieldProblem, invalidField } from '../core/errors.js';
import { type Fingerprint, type Keyring, requestFingerprint } from '../core/fingerprint.js';
import { Deadline, DeadlinePassed, withTimeout } from '../core/timers.js';
import type { TokenHolder } from '../core/permissions.js';
import type { ClientAddresses } from './client-addresses.js';
import { assertScope, type Authenticate, RequestHead, unauthorized } from './headers.js';
import type { Exchange } from './exchange.js';
import { check, foldMetadata, isEmptyObject, readJson, readQuery, refuseFor } from './input.js';
import type { RateLimits } from './rate-limit.js';
import { assertJson, type BodyTimeouts, readBody } from './request-body.js';
import type { ApiResponse, Route } from './route.js';
import {
  assertForm,
  NO_FILE_MESSAGE,
  readUpload,
  type UploadContent,
  type UploadedFile,
} from './upload.js';
import type { UploadSlot, UploadSlots } from './upload-slots.js';

export interface PipelineDeps {
  readonly authenticate: Authenticate;
  readonly addresses: ClientAddresses;
  readonly rateLimiter: RateLimits;
  readonly uploads: UploadSlots;
  readonly bodyTimeouts: BodyTimeouts;
  readonly fingerprintKeys: Keyring;
  /** Time of a request, without a slow body. */
  readonly timeoutMs: number;
}

/** After a slower body, the token is checked again, and the body does not count as time used. */
const SLOW_BODY_MS = 250;

type Params = Readonly<Record<string, string>>;

/** Runs every check in order, then the handler. (docs/contract.md, Order of checks) */
export async function handleRequest(
  deps: PipelineDeps,
  exchange: Exchange,
  route: Route,
  params: Params,
): Promise<ApiResponse> {
  exchange.route = route;
  exchange.params = params;
  exchange.routeName = route.path;
  const head = new RequestHead(exchange.request);
  let deadline = Deadline.afterMs(deps.timeoutMs);
  const holder = await authenticate(deps, head, deadline);
  const authenticatedAt = performance.now();
  exchange.caller = holder;
  // Every response to a valid token shows its rate.
  exchange.rate = await deps.rateLimiter.take(route.rateClass, holder.tokenKeyId);
  assertScope(holder, route.permits);
  assertWithinRate(exchange.rate);
  const key = route.idempotent === null ? null : head.idempotencyKey();
  const version = head.version();
  const slot = route.hasFile ? await deps.uploads.take(holder.tenantId) : null;
  try {
    const content = await readContent(deps.bodyTimeouts, exchange, route, slot);
    const bodyMs = performance.now() - authenticatedAt;
    if (bodyMs > SLOW_BODY_MS) {
      deadline = deadline.plus(bodyMs);
      await authenticate(deps, head, deadline);
    }
    const { body, query } = checkInput(route, content, exchange.search);
    const path = fillInPath(route.path, params);
    const caller = { deadline, ...holder };
    const response = route.handler({
      caller,
      requestId: exchange.requestId,
      version,
      path,
      params,
      body,
      file: content.file,
      query,
      idempotency:
        key === null
          ? null
          : { key, fingerprint: fingerprint(deps, route, path, caller, body, content.file) },
    });
    return await within(deadline, response);
  } finally {
    slot?.leave();
  }
}

/** Every response to a valid token shows its rate, also without a route. */
export async function takeRate(deps: PipelineDeps, exchange: Exchange): Promise<void> {
  if (exchange.request.headers.authorization === undefined) return;
  try {
    const head = new RequestHead(exchange.request);
    const { tokenKeyId } = await authenticate(deps, head, Deadline.afterMs(deps.timeoutMs));
    exchange.rate = await deps.rateLimiter.take('requests', tokenKeyId);
  } catch {
    // The token is invalid, or its validity is unknown.
  }
}

/** Throws 401 `unauthorized`. */
async function authenticate(
  deps: PipelineDeps,
  head: RequestHead,
  deadline: Deadline,
): Promise<TokenHolder> {
  const found = deps.authenticate(head.token(), deps.addresses.of(head.request));
  const holder = found instanceof Promise ? await within(deadline, found) : found;
  if (holder === null) throw unauthorized('the token is not valid');
  return holder;
}

/** Fills in the path in lower case, so that an id has one spelling. */
function fillInPath(template: string, params: Params): string {
  if (!template.includes('{')) return template;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => params[name]?.toLowerCase() ?? '');
}

function assertWithinRate({ allowed, retryAfterS }: NonNullable<Exchange['rate']>): void {
  if (allowed) return;
  const message = `too many requests with this token: retry in ${retryAfterS} s`;
  throw new ApiError({ code: 'rate_limited', message }, { 'Retry-After': String(retryAfterS) });
}

const NO_CONTENT: UploadContent = { fields: undefined, file: null, problems: [] };

async function readContent(
  timeouts: BodyTimeouts,
  { request, response }: Exchange,
  route: Route,
  slot: UploadSlot | null,
): Promise<UploadContent> {
  if (slot !== null) {
    assertForm(request);
    return readUpload(request, response, timeouts.uploadMs, slot);
  }
  if (route.body !== null) {
    assertJson(request);
    return { ...NO_CONTENT, fields: readJson(await readBody(request, response, timeouts.jsonMs)) };
  }
  const body = await readBody(request, response, timeouts.jsonMs);
  if (body.length > 0 && !isEmptyObject(body)) throw new ApiError(invalidField('', 'unexpected'));
  return NO_CONTENT;
}

/** Returns body and query as parsed. Reports the problems of both together. */
function checkInput(
  route: Route,
  content: UploadContent,
  search: string,
): { body: unknown; query: unknown } {
  const body = route.body === null ? null : check(route.body, content.fields);
  const queryText = readQuery(search);
  const query =
    route.query === null ? null : check(route.query, foldMetadata(route.query, queryText.values));
  const problems: FieldProblem[] = [...content.problems];
  // A malformed field is not also reported as missing.
  const known = new Set(problems.map(({ field }) => field));
  if (body?.ok === false) problems.push(...body.problems.filter(({ field }) => !known.has(field)));
  problems.push(...queryText.problems);
  if (query?.ok === false) problems.push(...query.problems);
  if (query === null)
    for (const field of Object.keys(queryText.values))
      problems.push({ code: 'invalid_field', field, reason: 'unknown' });
  if (problems.length > 0)
    refuseFor(problems, route.hasFile && content.file === null ? NO_FILE_MESSAGE : undefined);
  return { body: body?.ok ? body.value : undefined, query: query?.ok ? query.value : undefined };
}

/** Returns the fingerprint of a request. (docs/contract.md, Idempotency) */
function fingerprint(
  { fingerprintKeys }: PipelineDeps,
  { method, idempotent }: Route,
  path: string,
  { memberId }: TokenHolder,
  body: unknown,
  file: UploadedFile | null,
): Fingerprint {
  const fields = body === undefined ? '' : canonicalBody(body);
  // A file is identified by the hash of its bytes. None of the parts contains a line break.
  const content = file === null ? fields : `${fields}\n${file.sha256.toString('hex')}`;
  const member = idempotent === 'member' ? memberId : '';
  return requestFingerprint(fingerprintKeys, `${method}\n${path}\n${member}\n${content}`);
}

/** Two bodies that validation makes equal have the same canonical text. */
function canonicalBody(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalBody).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalBody(field)}`).join(',')}}`;
}

const LATE = Symbol('late');

/** Throws DeadlinePassed. Nothing of the work begins afterwards, but its last step may still commit. */
async function within<T>(deadline: Deadline, work: Promise<T>): Promise<T> {
  const result = await withTimeout<T, typeof LATE>(deadline.leftMs(), () => work, LATE);
  if (result === LATE) throw new DeadlinePassed();
  return result;
}
