import { ERROR_CODES, type ErrorCode, type ErrorEntry, ERRORS } from '../../core/error-table.js';
import { type Operation, type Permission, PERMISSIONS } from '../../core/permissions.js';
import type { Route } from '../route.js';
import { breakable, codeBlock, html, type Html, joinHtml, NOTHING, prose } from './html.js';
import { type SiteUrls, type Section, sectionOf, type SitePage } from './layout.js';

/** The content of a generated page, without its path and description. */
export type Generated = Pick<SitePage, 'title' | 'content' | 'sections'>;

/** Returns the page of errors, with an anchor for each code, to which `doc_url` links. */
export function errorsPage(urls: SiteUrls): Generated {
  const code = 'insufficient_funds';
  const { message, details } = ERRORS[code].example;
  const doc_url = `https://…${urls.page('/conceptos/errores')}#${code}`;
  const content = (): Html => html`
    <p>
      Every error has this shape. Your program decides by <code>code</code>, which never changes;
      <code>message</code> is for people. <code>details</code> is absent if the error has none.
    </p>
    ${codeBlock(JSON.stringify({ error: { code, message, doc_url, details } }, null, 2), 'json')}
    <p>
      For a 4xx, correct the request. A 422 is a business rule and binds the key, so a new attempt
      needs a new key; only <code>quota_exceeded</code> leaves the key free. A 503 means that the
      result is unknown: repeat the same request with the same key (<a
        href="${urls.page('/idempotency')}#what-binds-a-key"
        >how</a
      >).
    </p>
    ${ERROR_CODES.map((code) => errorEntry(code, ERRORS[code]))}
  `;
  return { title: 'Errors', content, sections: ERROR_CODES.map(errorSection) };
}

function errorEntry(code: string, { status, meaning, remedy, example, reasons }: ErrorEntry): Html {
  const keys = Object.keys(example.details ?? {}).map((key) => html` <code>${key}</code>`);
  return html`<article id="${code}">
    <h2><a href="#${code}">${breakable(code)}</a> <span class="status">${status}</span></h2>
    <p>${prose(meaning)} ${prose(remedy)}</p>
    ${keys.length === 0 ? NOTHING : html`<p>Details:${keys}</p>`}
    ${reasons === undefined ? NOTHING : reasonsList(reasons)}
  </article>`;
}

function reasonsList(reasons: NonNullable<ErrorEntry['reasons']>): Html {
  const rows = Object.entries(reasons).map(([reason, meaning]) => [
    html`<code>${reason}</code>`,
    prose(meaning),
  ]);
  return html`<details>
    <summary>Reasons (${rows.length})</summary>
    ${table(['Reason', 'Meaning'], rows)}
  </details>`;
}

function errorSection(code: ErrorCode): Section {
  const { status, meaning, remedy, reasons = {} }: ErrorEntry = ERRORS[code];
  const text = [status, meaning, remedy, ...Object.entries(reasons).flat()].join(' ');
  return sectionOf(code, code, text.replaceAll('`', ''));
}

const AUTHENTICATION = [
  'Every request carries a token in the header `Authorization: Bearer svc_live_…`. Your operator issues it to one member and shows it once. Ask for one that expires on a certain day, or that works only from your IP addresses. Protect it like a password. If you lose it, have your operator revoke it: within 5 seconds it moves no more money.',
  'A token that is missing, wrong, expired, revoked or used from another address gets 401 `unauthorized`.',
  'A token has scopes, and its member has one role in each account. Without the scope you get 401 `insufficient_scope`, whose message names the scope, and without the role 403 `authority_insufficient`. Lists omit what the member may not see.',
];

export function permissionsPage(
  routes: readonly Route[],
  callLink: (route: Route) => Html,
): Generated {
  const operations = Object.keys(PERMISSIONS) as Operation[];
  const heads = ['Operation', 'Scope (any of)', 'Role in', 'Roles'];
  const content = (): Html => html`
    <h2 id="authentication"><a href="#authentication">Authentication</a></h2>
    ${AUTHENTICATION.map((text) => html`<p>${prose(text)}</p>`)}
    <h2 id="operations"><a href="#operations">Operations</a></h2>
    ${table(
      heads,
      operations.map((operation) => permissionCells(operation, routes, callLink)),
    )}
  `;
  const text = operations
    .map((operation) => `${operation} ${PERMISSIONS[operation].scopes.join(' ')}`)
    .join(' ');
  const sections = [
    sectionOf('authentication', 'Authentication', AUTHENTICATION.join(' ').replaceAll('`', '')),
    sectionOf('operations', 'Operations', text),
  ];
  return { title: 'Authentication and permissions', content, sections };
}

function permissionCells(
  operation: Operation,
  routes: readonly Route[],
  callLink: (route: Route) => Html,
): Html[] {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
  const calls = routes.filter((route) => route.permits === operation).map(callLink);
  return [
    joinHtml(calls, '<br />'),
    html`${scopes.join(', ')}`,
    html`${roleIn ?? '–'}`,
    html`${[...(roles ?? ['–']), ...(also === undefined ? [] : [also])].join(', ')}`,
  ];
}

/** On a phone each cell is shown below its heading. */
function table(heads: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const cell = (content: Html, index: number): Html =>
    html`<td data-label="${heads[index] ?? ''}">${content}</td>`;
  return html`<div class="scroll" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th>${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map(cell)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
