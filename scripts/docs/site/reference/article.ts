import { type ErrorEntry, ERRORS } from '../../../../src/core/error-table.js';
import type { Route } from '../../../../src/http/route.js';
import { type Content, html, type Html } from '../../../../src/support/html.js';
import type { ApiDocument, DescribedOperation, Schemas } from '../../openapi/document.js';
import { codesOf } from '../../openapi/generate.js';
import { breakable, codeBlock, prose, type Tab, tabs } from '../html.js';
import { type GuideBlock, readPart, renderMarkdown } from '../markdown-page.js';
import { bodyOf, type Call, exampleOf, responsesOf } from './call.js';
import { type Field, fieldsOf, parametersOf } from './fields.js';
import { type ApiObject, objectTitle } from './objects.js';
import { type Sample, samplesOf } from './samples.js';

const FILE_EXTENSIONS: Readonly<Record<string, string>> = {
  TypeScript: 'mts',
  Python: 'py',
  Go: 'go',
};

/** Returns a program of docs/site/programs. */
export function readProgram(name: string, language: Sample['name']): string {
  return readPart(`docs/site/programs/${name}.${FILE_EXTENSIONS[language]}`).toString('utf8');
}

/** Returns the request of a guide's command in the other languages, or its program of docs/site/programs. */
export function guideSamples(
  { route, operation }: Call,
  schemas: Schemas,
  { command, program }: GuideBlock,
): Sample[] {
  const samples = samplesOf(route, operation, schemas, program === undefined ? command : undefined);
  return samples
    .filter(({ name }) => name !== 'curl')
    .map((sample) => {
      if (program === undefined) return sample;
      return { ...sample, text: readProgram(program, sample.name) };
    });
}

export function sampleTabs({ route }: Call, samples: readonly Sample[]): Tab[] {
  return samples.map(({ name, language, text }) => ({
    id: `${route.operationId}-${name.toLowerCase()}`,
    label: name,
    content: codeBlock(text, language),
  }));
}

/** `errorsPage` is the path of the page that explains the error codes. */
export function callArticle(call: Call, document: ApiDocument, errorsPage: string): Html {
  const { route, operation } = call;
  const { operationId, summary } = operation;
  const { schemas } = document.components;
  const body = bodyOf(operation);
  const samples = sampleTabs(call, samplesOf(route, operation, schemas));
  return html`<article id="${operationId}" class="operation">
    <h2><a href="#${operationId}">${summary}</a></h2>
    <p class="call"><b>${route.method}</b> <code>${breakable(route.path)}</code></p>
    <div class="text">
      ${renderMarkdown(operation.description)}
      ${titled('In the path', parametersOf('path', operation, document))}
      ${titled('Query', parametersOf('query', operation, document))}
      ${
        body !== undefined &&
        html`<h3>Body</h3>
          ${fieldList(fieldsOf(body, schemas, 'request'))}`
      }
      ${titled('Headers', parametersOf('header', operation, document))}
      <h3>Responses</h3>
      ${responses(operation, schemas)} ${errors(route, errorsPage)}
    </div>
    <div class="samples">
      ${tabs(`${operationId}-language`, 'Request', samples)} ${example(operation)}
    </div>
  </article>`;
}

/** Describes an object above the operations of its group. */
export function objectArticle(
  { name, anchor, schema, example }: ApiObject,
  schemas: Schemas,
): Html {
  return html`<article id="${anchor}" class="operation">
    <h2><a href="#${anchor}">${objectTitle(name)}</a></h2>
    <div class="text">
      ${schema.description !== undefined && renderMarkdown(schema.description)}
      ${fieldList(fieldsOf(schema, schemas, 'response'))}
    </div>
    <div class="samples">
      <p class="sample">Example</p>
      ${codeBlock(example, 'json')}
    </div>
  </article>`;
}

function titled(title: string, fields: readonly Field[]): Content {
  return (
    fields.length > 0 &&
    html`<h3>${title}</h3>
      ${fieldList(fields)}`
  );
}

function responses(operation: DescribedOperation, schemas: Schemas): Content {
  return responsesOf(operation, schemas).map(({ heads, fields }) => {
    const items = heads.map(({ status, description, kinds }) => {
      return html`<li><code>${status}</code> ${description} ${prose(kinds.join(' or '))}</li>`;
    });
    return html`<ul>
        ${items}
      </ul>
      ${foldedFields(fields)}`;
  });
}

export function foldedFields(fields: readonly Field[]): Content {
  return (
    fields.length > 0 &&
    html`<details>
      <summary>Fields</summary>
      ${fieldList(fields)}
    </details>`
  );
}

function example(operation: DescribedOperation): Content {
  const first = exampleOf(operation);
  return (
    first !== null &&
    html`<p class="sample">Response ${first.status}</p>
      ${codeBlock(first.text, first.language)}`
  );
}

function errors(route: Route, page: string): Html {
  const rows = codesOf(route).map((code) => {
    const { status, meaning }: ErrorEntry = ERRORS[code];
    return html`<div>
      <dt>
        <a href="${page}#${code}"><code>${breakable(code)}</code></a>
        <span class="status">${status}</span>
      </dt>
      <dd><p>${prose(meaning)}</p></dd>
    </div>`;
  });
  return html`<details>
    <summary>Errors (${rows.length})</summary>
    <dl>${rows}</dl>
  </details>`;
}

export function fieldList(fields: readonly Field[]): Content {
  const rows = fields.map(
    ({ name, type, mark, text }) =>
      html`<div>
        <dt>
          <code>${breakable(name)}</code>
          <span class="type">${prose(type)}</span
          >${mark !== null && html` <span class="must">${prose(mark)}</span>`}
        </dt>
        <dd>${text !== '' && renderMarkdown(text)}</dd>
      </div>`,
  );
  return rows.length > 0 && html`<dl>${rows}</dl>`;
}
