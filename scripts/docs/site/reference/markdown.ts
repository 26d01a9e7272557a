import { type ErrorEntry, ERRORS } from '../../../../src/core/error-table.js';
import type { ApiDocument, Schemas } from '../../openapi/document.js';
import { codesOf } from '../../openapi/generate.js';
import { bodyOf, type Call, exampleOf, responsesOf } from './call.js';
import { type Field, fieldsOf, parametersOf } from './fields.js';
import { type ApiObject, objectTitle } from './objects.js';
import { samplesOf } from './samples.js';

/** Describes an operation in Markdown. `errorsPage` is the URL of the page of error codes. */
export function callMarkdown(call: Call, document: ApiDocument, errorsPage: string): string {
  const { route, operation } = call;
  const { schemas } = document.components;
  const body = bodyOf(operation);
  const example = exampleOf(operation);
  const responses = responsesOf(operation, schemas).map(({ heads, fields }) => {
    const lines = heads.map(({ status, description, kinds }) => {
      return `- \`${status}\` ${description} ${kinds.join(' or ')}`.trim();
    });
    return [lines.join('\n'), ...(fields.length === 0 ? [] : ['Fields:', fieldLines(fields)])];
  });
  const errors = codesOf(route).map((code) => {
    const { status, meaning }: ErrorEntry = ERRORS[code];
    return `- [\`${code}\`](${errorsPage}#${code}) (${status}): ${meaning}`;
  });
  return blocks([
    `## ${operation.summary}`,
    `\`${route.method} ${route.path}\`, operation \`${operation.operationId}\``,
    operation.description,
    ...titled('In the path', parametersOf('path', operation, document)),
    ...titled('Query', parametersOf('query', operation, document)),
    ...titled('Body', body === undefined ? [] : fieldsOf(body, schemas, 'request')),
    ...titled('Headers', parametersOf('header', operation, document)),
    '### Responses',
    ...responses.flat(),
    ...(example === null ? [] : [`Example of ${example.status}:`, fence(example)]),
    '### Errors',
    errors.join('\n'),
    '### Samples',
    ...samplesOf(route, operation, schemas).map(fence),
  ]);
}

/** Describes an object above the operations of its group. */
export function objectMarkdown({ name, schema, example }: ApiObject, schemas: Schemas): string {
  return blocks([
    `## ${objectTitle(name)}`,
    schema.description ?? '',
    fieldLines(fieldsOf(schema, schemas, 'response')),
    fence({ language: 'json', text: example }),
  ]);
}

/** Joins blocks of Markdown, without empty ones. */
export function blocks(all: readonly string[]): string {
  return all.filter((block) => block !== '').join('\n\n');
}

export function fence({ language, text }: Readonly<{ language: string; text: string }>): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

function titled(title: string, fields: readonly Field[]): readonly string[] {
  return fields.length === 0 ? [] : [`### ${title}`, fieldLines(fields)];
}

export function fieldLines(fields: readonly Field[]): string {
  return fields
    .map(({ name, type, mark, text }) => {
      const about = mark === null ? type : `${type}, ${mark}`;
      return `- \`${name}\` (${about})${text === '' ? '' : `: ${text.replaceAll('\n', '\n  ')}`}`;
    })
    .join('\n');
}
