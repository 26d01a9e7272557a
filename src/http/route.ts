import { ApiError, type CommandResult, notFound } from '../core/errors.js';
import { type ErrorCode, SPENDING_CODES } from '../core/error-table.js';
import type { Fingerprint } from '../core/fingerprint.js';
import { newId, parseUuid, type Uuid } from '../core/ids.js';
import type { Caller, Operation } from '../core/permissions.js';
import type { ApiVersion } from '../core/api-version.js';
import type { RateClass } from './rate-limit.js';
import type { UploadedFile } from './upload.js';
import { z } from './zod.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly file?: FileResponse;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FileResponse {
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

/** The checks of a route, which also describe it in OpenAPI. */
interface RouteParts {
  /** The name that clients use: a verb and a noun, such as `listTransfers`. */
  readonly operationId: string;
  /** Requires one of the operation's scopes; the feature checks the role. */
  readonly permits: Operation;
  /** By default `requests`, or `uploads` with a file. */
  readonly rateClass: RateClass;
  /**
   * Requires an Idempotency-Key of the tenant, or one that is also bound to the member: another
   * member with it gets 409. A fault of the service is answered with 503, never 500.
   */
  readonly idempotent: 'tenant' | 'member' | null;
  /** The schema of the JSON body. Use z.strictObject, so that an unknown field is refused. */
  readonly body: z.ZodType | null;
  /** Requires a form with exactly one file, and text fields as in `body`. */
  readonly hasFile: boolean;
  /** The schema of the query. Without it every parameter is unknown. */
  readonly query: z.ZodType | null;
  /** The schemas of successful responses by status; null for no body. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>;
  /** The document's examples by status. */
  readonly examples: Readonly<Record<number, unknown>>;
  /** The content types of a 200 response with a file (ApiResponse.file); empty for JSON. */
  readonly fileTypes: readonly string[];
  /** Codes with which the handler itself may refuse. */
  readonly refusals: readonly ErrorCode[];
  readonly summary: string;
  /** Further explanation, in Markdown. */
  readonly description: string;
}

export interface Route extends RouteParts {
  readonly method: Method;
  readonly path: string;
  readonly handler: (request: AnyRequest) => Promise<ApiResponse>;
}

const DEFAULTS = {
  idempotent: null,
  body: null,
  hasFile: false,
  query: null,
  examples: {},
  fileTypes: [],
  refusals: [],
} as const;

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** `Part` of the request, unless the route does not declare it. */
type IfDeclared<Declared, Part> = [Declared] extends [never] ? unknown : Part;

type RequestOf<Path extends string, Body, Query, Key, File> = BaseRequest<ParamName<Path>> & {
  readonly body: z.output<Body>;
  readonly query: z.output<Query>;
} & IfDeclared<Key, { readonly idempotency: Idempotency }> &
  IfDeclared<File, { readonly file: UploadedFile }>;

interface RouteSpec<Path extends string, Body, Query, Key, File>
  extends
    Pick<RouteParts, 'operationId' | 'permits' | 'responses' | 'summary'>,
    Partial<Pick<RouteParts, 'rateClass' | 'examples' | 'fileTypes' | 'refusals'>> {
  readonly description?: string | undefined;
  readonly body?: Body;
  readonly query?: Query;
  readonly idempotent?: Key;
  readonly hasFile?: File;
  readonly handler: (request: RequestOf<Path, Body, Query, Key, File>) => Promise<ApiResponse>;
}

export interface ApiEvent {
  readonly type: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  readonly summary: string;
  readonly description: string;
  /** Whether endpoints receive it. If not, it is only in the log. */
  readonly isDelivered: boolean;
}

/** The routes and events of the API. The checks run in the order of the contract. */
export class Api {
  readonly routes: Route[] = [];
  readonly events: ApiEvent[] = [];

  readonly get = this.routeAdder('GET');
  readonly post = this.routeAdder('POST');
  readonly put = this.routeAdder('PUT');
  readonly patch = this.routeAdder('PATCH');
  readonly delete = this.routeAdder('DELETE');

  addEvent(event: ApiEvent): void {
    this.events.push(event);
  }

  /** Returns a method that adds a route, and throws if the route conflicts with another. */
  private routeAdder(method: Method) {
    return <
      Path extends string,
      Body extends z.ZodType = z.ZodUndefined,
      Query extends z.ZodType = z.ZodUndefined,
      Key extends 'tenant' | 'member' = never,
      File extends true = never,
    >(
      path: Path,
      spec: RouteSpec<Path, Body, Query, Key, File>,
    ): void => {
      const { operationId, hasFile, description = '' } = spec;
      const other = this.routes.find(
        (route) =>
          route.operationId === operationId ||
          (shapeOf(route.path) === shapeOf(path) &&
            (route.method === method || route.path !== path)),
      );
      if (other !== undefined)
        throw new Error(
          `${method} ${path} conflicts with ${other.method} ${other.path} (${other.operationId})`,
        );
      const rateClass = hasFile ? 'uploads' : 'requests';
      // The type of `spec` has compared the handler with what the route requests.
      const handler = spec.handler as Route['handler'];
      this.routes.push({ ...DEFAULTS, rateClass, ...spec, description, method, path, handler });
    };
  }
}

/** The router and OpenAPI treat two paths of one shape as one path. */
function shapeOf(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}

/** The codes of every operation that takes money out of an account. */
export const SPENDING_REFUSALS = ['not_found', ...SPENDING_CODES] as const;

/** Returns the id in the path. Throws not_found if it is not a UUID. */
export function pathId<Name extends string>(
  request: { readonly params: Readonly<Record<Name, string>> },
  name: Name,
): Uuid {
  const id = parseUuid(request.params[name]);
  if (id === null) throw notFound();
  return id;
}

/** Returns the id in the path, or an id of no resource, because the key is looked up first. */
export function keyedPathId<Name extends string>(
  request: { readonly params: Readonly<Record<Name, string>> },
  name: Name,
): Uuid {
  return parseUuid(request.params[name]) ?? newId();
}

const REPLAYED: Readonly<Record<string, string>> = { 'Svc-Idempotent-Replayed': 'true' };

/** Returns the response to a command, marked if it is a replay. Throws a refusal. */
export function responseTo<Resource>(
  { outcome, replayed }: CommandResult<Resource>,
  present: (resource: Resource, replayed: boolean) => ApiResponse,
): ApiResponse {
  if (!outcome.done) throw new ApiError(outcome.refusal, replayed ? REPLAYED : {});
  const response = present(outcome.resource, replayed);
  return replayed ? { ...response, headers: { ...response.headers, ...REPLAYED } } : response;
}

/** Returns the response to a creation: 201, or 202 if the resource waits for approval; 200 for a replay. */
export function creationResponse<Resource>(
  result: CommandResult<Resource>,
  present: (resource: Resource) => object,
): ApiResponse {
  return responseTo(result, (resource, replayed) => {
    const body = present(resource);
    const isWaiting = 'status' in body && body.status === 'pending_approval';
    return { status: replayed ? 200 : isWaiting ? 202 : 201, body };
  });
}

const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;
export const FILE_TYPES = ['text/csv', CONTENT_TYPES.xlsx] as const;

export const FileQuery = z.strictObject({
  format: z.enum(['csv', 'xlsx']).default('csv').describe('The format of the file.'),
});

/** Returns the response with a file; `name` is the file name without `.csv` or `.xlsx`. */
export function tableFile(
  name: string,
  format: keyof typeof CONTENT_TYPES,
  pieces: FileResponse['pieces'],
) {
  const contentType = CONTENT_TYPES[format];
  return { status: 200, file: { contentType, name: `${name}.${format}`, pieces } };
}
