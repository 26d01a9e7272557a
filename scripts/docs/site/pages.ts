import { ASSETS } from '../../../src/core/amount.js';
import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorEntry,
  ERRORS,
} from '../../../src/core/error-table.js';
import { detailsOf } from '../openapi/error-details.js';
import { type Operation, type Permission, PERMISSIONS } from '../../../src/core/permissions.js';
import type { Route } from '../../../src/http/route.js';
import type { SiteUrls } from './layout.js';
import { MARKDOWN_DOCS_URL } from './markdown-page.js';

/** Pages generated as Markdown from the tables of errors and permissions. */

/** Returns the page of errors, with an anchor for each code, to which `doc_url` links. */
export function errorsPage(urls: SiteUrls): string {
  const code = 'insufficient_funds';
  const { message, details } = ERRORS[code].example;
  const doc_url = `https://…${urls.page('/conceptos/errores')}#${code}`;
  return `# Errors

Every error has this shape. Your program decides by \`code\`, which never changes; \`message\` is for people. \`doc_url\`
leads to the code on this page; its Spanish path is kept, and [the English one](${MARKDOWN_DOCS_URL}/errors) is the same page. \`details\` is absent if the error has none.

\`\`\`json
${JSON.stringify({ error: { code, message, doc_url, details } }, null, 2)}
\`\`\`

For a 4xx, correct the request. A 422 is a business rule and binds the idempotency key, so a new attempt needs a new key; only
\`quota_exceeded\` leaves the key free. A 503, or any 5xx of a proxy, means that the result is unknown: repeat the same request with the
same key ([how](${MARKDOWN_DOCS_URL}/idempotency#what-binds-a-key)).

These codes have details, always with all of their fields. \`int64\` is an integer as text of digits. A \`reason\` matches
\`^([a-z0-9_]+)(?:: (.+))?$\`: a word of the table of its code, and after \`not_one_of\` and \`exactly_one_of\` a colon and a list with \`, \` between its
entries, as in \`not_one_of: ${ASSETS.join(', ')}\`. Later versions may have further words.

${detailsTable()}

${ERROR_CODES.map(errorSection).join('\n\n')}
`;
}

function detailsTable(): string {
  const rows = ERROR_CODES.flatMap((code) => {
    const fields = detailsOf(code);
    return fields === '' ? [] : [[`[\`${code}\`](#${code})`, fields]];
  });
  return table(['Code', '`details`'], rows);
}

function errorSection(code: ErrorCode): string {
  const { status, meaning, remedy, reasons = {}, example }: ErrorEntry = ERRORS[code];
  const details = detailsOf(code);
  const shown = JSON.stringify(example.details ?? {}, null, 1).replaceAll(/\n */g, ' ');
  const rows = Object.entries(reasons).map(([reason, what]) => [
    `\`${reason}\``,
    // In code, a backslash would be shown.
    what.replaceAll(/(`[^`]*`)|_/g, (_, code?: string) => code ?? String.raw`\_`),
  ]);
  return [
    `## ${code}`,
    `**${status}** ${meaning} ${remedy}`,
    ...(details === '' ? [] : [`Details: ${details}, for example \`${shown}\`.`]),
    ...(rows.length === 0 ? [] : [table(['Reason', 'Meaning'], rows)]),
  ].join('\n\n');
}

/** `linkOf` returns the link to a route's description, in Markdown. */
export function permissionsPage(
  routes: readonly Route[],
  linkOf: (route: Route) => string,
): string {
  const rows = (Object.keys(PERMISSIONS) as Operation[]).map((operation) => {
    const { scopes, roles, roleIn, rule }: Permission = PERMISSIONS[operation];
    const calls = routes.filter((route) => route.permits === operation).map(linkOf);
    const allowed = [...(roles ?? ['–']), ...(rule === undefined ? [] : [rule])];
    return [calls.join(', '), scopes.join(', '), roleIn ?? '–', allowed.join(', ')];
  });
  return `# Authentication and permissions

## Authentication

Every request carries a token in the header \`Authorization: Bearer svc_live_…\`; there is no OAuth. It belongs to one member, and is shown once. Your operator issues
the first one; an owner of an account [issues and revokes](${MARKDOWN_DOCS_URL}/access) further ones. A token can expire on a certain day, or work
only from your IP addresses. Protect it like a password. If you lose it, [revoke it](${MARKDOWN_DOCS_URL}/access#replace-a-leaked-token), or have
your operator do so: within 5 seconds it moves no more money.

A token has scopes, and its member has one role in each account: [the table of both](${MARKDOWN_DOCS_URL}/concepts#scopes). Lists omit what
the member may not see, and \`GET /v1/requests/{request_id}\` finds only the member's own requests. There is no \`GET /v1/me\`: [where to find](${MARKDOWN_DOCS_URL}/access#your-tenant-roles-and-scopes) your own.

## Refused requests

${table(['Response', '`details.reason`', 'Cause'], refusals())}

The message of \`insufficient_scope\` names the scope, as does \`scope="…"\` in its header \`WWW-Authenticate\`. What belongs to another tenant gets 404.

## Operations

${table(['Operation', 'Scope (any of)', 'Role in', 'Roles'], rows)}
`;
}

/** Returns a row for each cause of a 401 or 403. */
function refusals(): string[][] {
  return ERROR_CODES.flatMap((code) => {
    const { status, meaning, reasons }: ErrorEntry = ERRORS[code];
    if (status !== 401 && status !== 403) return [];
    const response = `${status} [\`${code}\`](${MARKDOWN_DOCS_URL}/errors#${code})`;
    return reasons === undefined
      ? [[response, '–', meaning]]
      : Object.entries(reasons).map(([reason, what]) => [response, `\`${reason}\``, what]);
  });
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
