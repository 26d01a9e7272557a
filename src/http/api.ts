import type { ApiAnswer, Handler, Method, RequestOf, Route, RouteParts, Step } from './route.js';
import type { z } from './zod.js';

const NOTHING: RouteParts = {
  operationId: '',
  operation: null,
  rateClass: 'requests',
  idempotent: null,
  body: null,
  hasFile: false,
  query: null,
  answers: {},
  examples: {},
  fileTypes: [],
  refusals: [],
  summary: '',
  description: '',
};

type Sentence<Path extends string, Steps extends readonly Step[]> = readonly [
  ...Steps,
  Handler<RequestOf<Path, Steps>>,
];

export interface ApiEvent {
  readonly type: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  readonly summary: string;
  readonly description: string;
  readonly isSubscribable: boolean;
}

export class Api {
  readonly routes: Route[] = [];
  readonly events: ApiEvent[] = [];

  readonly get = this.adding('GET');
  readonly post = this.adding('POST');
  readonly put = this.adding('PUT');
  readonly patch = this.adding('PATCH');
  readonly delete = this.adding('DELETE');

  private adding(method: Method) {
    return <Path extends string, Steps extends readonly Step[]>(
      path: Path,
      ...sentence: Sentence<Path, Steps>
    ): void => this.add(method, path, sentence);
  }

  tells(event: ApiEvent): void {
    this.events.push(event);
  }

  /** Throws for a route that cannot be served or documented. */
  private add(method: Method, path: string, sentence: readonly unknown[]): void {
    // get, post, … have checked the handler against its steps.
    const steps = sentence.slice(0, -1) as readonly Step[];
    const handler = sentence.at(-1) as (request: unknown) => Promise<ApiAnswer>;
    const parts: RouteParts = Object.assign({}, NOTHING, ...steps.map((step) => step.parts));
    const name = `${method} ${path}`;
    if (parts.operationId === '') throw new Error(`${name} is not named`);
    if (parts.operation === null) throw new Error(`${name} does not say whom it permits`);
    if (parts.summary === '') throw new Error(`${name} has no summary`);
    if (Object.keys(parts.answers).length === 0)
      throw new Error(`${name} does not say what it answers`);
    const other = this.routes.find(
      (route) =>
        route.operationId === parts.operationId ||
        (shapeOf(route.path) === shapeOf(path) && (route.method === method || route.path !== path)),
    );
    if (other !== undefined)
      throw new Error(
        `${name} conflicts with ${other.method} ${other.path} (${other.operationId})`,
      );
    this.routes.push({ ...parts, operation: parts.operation, method, path, handler });
  }
}

/** The router and OpenAPI treat two paths of one shape as one path. */
function shapeOf(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}
