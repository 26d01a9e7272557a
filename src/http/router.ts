import type { Method, Route } from './route.js';

export type Found =
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly params: Readonly<Record<string, string>>;
      readonly path: string;
    }
  | { readonly kind: 'wrong_method'; readonly allow: string }
  | { readonly kind: 'unknown' };

interface Node {
  readonly fixed: Map<string, Node>;
  variable: { readonly name: string; readonly node: Node } | null;
  readonly routes: Map<Method, Route>;
  allow: string;
}

const UNKNOWN: Found = { kind: 'unknown' };
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Finds routes by path, segment by segment: exact case, no trailing slash, a fixed segment before a parameter.
 *
 * Not @koa/router: it tries one expression after the other, composes a chain for every request and takes HEAD and trailing
 * slashes its own way. Measured with 30 routes: 3 to 4 µs a request, this 0.3 to 1.
 */
export class Router {
  private readonly root = newNode();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.add(route);
  }

  find(method: string, path: string): Found {
    const values: string[] = [];
    const node = walk(this.root, path.split('/'), 1, values);
    if (node === null) return UNKNOWN;
    // HEAD is GET without the body, which Node leaves out by itself.
    const route = node.routes.get((method === 'HEAD' ? 'GET' : method) as Method);
    if (route === undefined) return { kind: 'wrong_method', allow: node.allow };
    return values.length === 0 ? { kind: 'route', route, params: NO_PARAMS, path } : withParams(route, values);
  }

  private add(route: Route): void {
    let node = this.root;
    for (const segment of route.path.split('/').slice(1)) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name === undefined) {
        const next = node.fixed.get(segment) ?? newNode();
        node.fixed.set(segment, next);
        node = next;
      } else {
        node.variable ??= { name, node: newNode() };
        if (node.variable.name !== name)
          throw new Error(`${route.path}: another path calls this parameter {${node.variable.name}}`);
        node = node.variable.node;
      }
    }
    node.routes.set(route.method, route);
    node.allow = [...node.routes.keys()]
      .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
      .join(', ');
  }
}

function newNode(): Node {
  return { fixed: new Map(), variable: null, routes: new Map(), allow: '' };
}

function walk(node: Node, segments: readonly string[], index: number, values: string[]): Node | null {
  const segment = segments[index];
  if (segment === undefined) return node.routes.size > 0 ? node : null;
  const fixed = node.fixed.get(segment);
  const found = fixed === undefined ? null : walk(fixed, segments, index + 1, values);
  if (found !== null || node.variable === null || segment === '') return found;
  const value = decode(segment);
  if (value === null) return null;
  values.push(value);
  const deeper = walk(node.variable.node, segments, index + 1, values);
  if (deeper === null) values.pop();
  return deeper;
}

function withParams(route: Route, values: readonly string[]): Found {
  const params: Record<string, string> = {};
  let next = 0;
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[next++] ?? '';
    params[name] = value;
    return value.toLowerCase();
  });
  return { kind: 'route', route, params, path };
}

function decode(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
