import { ERROR_CODES, ERRORS, type ErrorEntry } from '../../core/errors.js';
import { type Operation, type Permission, PERMISSIONS } from '../../core/permissions.js';
import type { Route } from '../route.js';
import { html, type Html, page, prose, type Site } from './layout.js';

/** The pages of the docs that are made from the code. Those that are written are in docs/guides. */

export function homePage(site: Site, baseUrl: string): string {
  const { base, guides } = site;
  const content = html`
    <p>
      Send money between accounts, read balances and movements, and follow what happened. All bodies are JSON, but for
      uploads, which are multipart forms, and the files that batches give back; every request carries a token; every
      answer carries its <code>Svc-Request-Id</code>.
    </p>
    <ul>
      <li><a href="${base}/reference">Reference</a>: every operation, to read and to try out</li>
      <li><a href="${base}/conceptos/errores">Errors</a>: every code, what it means and what to do</li>
      <li><a href="${base}/permissions">Permissions</a>: which scope and which role an operation asks for</li>
      ${guides.map(({ path, title }) => html`<li><a href="${base}${path}">${title}</a></li>`)}
      <li><a href="/openapi.json">openapi.json</a>: the same reference for machines (OpenAPI 3.1)</li>
    </ul>
    <h2>A first transfer</h2>
    <pre><code>curl -i ${baseUrl}/v1/transfers \\
  -H 'Authorization: Bearer YOUR_TOKEN' \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: A_NEW_UUID' \\
  -d '{"source_account":"UUID","destination":{"type":"account","account_id":"UUID"},"amount":{"raw":"150000","asset":"COPM"}}'</code></pre>
    <p>If no answer comes, or a 503, send the very same request with the same key. The money moves once.</p>
  `;
  return page(site, 'Money Movement Service', content);
}

/** One anchor for each code: where every `doc_url` leads. */
export function errorsPage(site: Site): string {
  const content = html`
    <p>
      Every error has this shape. <code>code</code> is stable and for machines, <code>message</code> is for people, and
      <code>details</code> holds the rule's data where there is any.
    </p>
    <pre><code>{"error": {"code": "…", "message": "…", "doc_url": "…", "details": {}}}</code></pre>
    <p>
      A 4xx means: correct the request. A 422 is a business rule and never transient. A 503 means that the result is not
      known: repeat the same request with the same key.
    </p>
    ${ERROR_CODES.map((code) => errorEntry(code, ERRORS[code]))}
  `;
  return page(site, 'Errors', content);
}

function errorEntry(code: string, { status, meaning, remedy, details }: ErrorEntry): Html {
  const keys = (details ?? []).map((key) => html`<code>${key}</code> `);
  return html`<article id="${code}">
    <h2><a href="#${code}">${code}</a> <span class="status">${status}</span></h2>
    <p>${prose(meaning)}</p>
    <p>${prose(remedy)}</p>
    ${keys.length === 0 ? '' : html`<p>Details: ${keys}</p>`}
  </article>`;
}

export function permissionsPage(site: Site, routes: readonly Route[]): string {
  const rows = (Object.keys(PERMISSIONS) as Operation[]).map((operation) => permissionRow(operation, routes));
  const content = html`
    <p>
      A token has scopes; a member has one role in each account. Without a scope the answer is 401
      <code>insufficient_scope</code>, without the role 403 <code>authority_insufficient</code>. Lists leave out what
      the member may not see.
    </p>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Operation</th>
            <th>Scope (any of)</th>
            <th>Role in</th>
            <th>Roles</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  `;
  return page(site, 'Permissions', content);
}

function permissionRow(operation: Operation, routes: readonly Route[]): Html {
  const { scopes, roles, roleIn, also }: Permission = PERMISSIONS[operation];
  const own = routes.filter((route) => route.operation === operation);
  const calls = own.map(({ method, path }) => html`<br /><code>${method} ${path}</code>`);
  return html`<tr>
    <td>${operation}${calls}</td>
    <td>${scopes.join(', ')}</td>
    <td>${roleIn ?? '–'}</td>
    <td>${[...(roles ?? ['–']), ...(also === undefined ? [] : [also])].join(', ')}</td>
  </tr>`;
}

/** The frame of the reference; Swagger UI fills it from /openapi.json. */
export function referencePage(site: Site): string {
  const { base } = site;
  return page(
    site,
    'Reference',
    html`<link rel="stylesheet" href="${base}/assets/swagger-ui.css" />
      <link rel="stylesheet" href="${base}/assets/reference.css" />
      <div id="reference">
        <noscript>The reference needs JavaScript; <a href="/openapi.json">openapi.json</a> does not.</noscript>
      </div>
      <script src="${base}/assets/swagger-ui-bundle.js"></script>
      <script src="${base}/assets/reference.js"></script>`,
  );
}

export const REFERENCE_SCRIPT = `
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
`;

/** Swagger UI knows no dark colours: on the reference the page stays light. */
export const REFERENCE_STYLE = `
:root { color-scheme: light; --ink: #1c2330; --paper: #ffffff; --line: #d9dee7; --soft: #f4f6f9; --accent: #0b5cad; }
main { max-width: 76rem; }
`;
