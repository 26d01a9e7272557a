import { PERMISSIONS, type Scope, SCOPES } from '../../../src/core/permissions.js';
import type { Route } from '../../../src/http/route.js';

/** Returns the scopes with which a token may do all that the code of a guide does, but no other. */
export function scopesOfGuide(
  guide: string,
  routes: readonly Route[],
  readProgram: (name: string) => string,
): readonly Scope[] {
  const programs = Array.from(guide.matchAll(/^```sh \w+ (\S+)/gm), ([, name = '']) =>
    readProgram(name),
  );
  const code = [...codeOf(guide, 'ts'), ...programs].join('\n');
  const commands = codeOf(guide, 'sh')
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => line.split(/(?=\b(?:svc|curl) )/));
  const called = [
    ...commands.map((command) => routeOf(command, routes)),
    ...routes.filter(({ operationId }) => new RegExp(`\\.${operationId}\\(`).test(code)),
  ];
  const permitted = called.flatMap((route) =>
    route === undefined ? [] : [PERMISSIONS[route.permits].scopes as readonly Scope[]],
  );
  const needed = new Set(permitted.filter(({ length }) => length === 1).flat());
  for (const scopes of permitted)
    if (!scopes.some((scope) => needed.has(scope)))
      scopes.slice(0, 1).forEach((one) => needed.add(one));
  return SCOPES.filter((scope) => needed.has(scope));
}

function codeOf(guide: string, language: string): string[] {
  const blocks = guide.matchAll(/^```(\w+).*\n([^]*?)^```$/gm);
  return Array.from(blocks).flatMap(([, one, text = '']) => (one === language ? [text] : []));
}

/** Returns the route of a request, such as `svc "$SVC_URL/transfers/$id" -X PATCH`. */
function routeOf(command: string, routes: readonly Route[]): Route | undefined {
  const [, path] = /\$SVC_URL(\/[^"?\s]*)/.exec(command) ?? [];
  if (path === undefined) return undefined;
  const hasBody = /--json|-F |Idempotency-Key/.test(command);
  const [, method = hasBody ? 'POST' : 'GET'] = /-X (\w+)/.exec(command) ?? [];
  const parts = `/v1${path}`.split('/');
  const fits = (route: Route, parameter: RegExp): boolean => {
    const own = route.path.split('/');
    return (
      route.method === method &&
      own.length === parts.length &&
      own.every((part, at) => part === parts[at] || parameter.test(part))
    );
  };
  // `/accounts/lookup` is not `/accounts/{account_id}`.
  return routes.find((one) => fits(one, /^$/)) ?? routes.find((one) => fits(one, /^\{/));
}
