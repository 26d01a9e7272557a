import type { Route } from '../../../../src/http/route.js';
import {
  type Content,
  type DescribedOperation,
  refName,
  type Schema,
  type Schemas,
} from '../../openapi/document.js';
import { type Field, fieldsOf } from './fields.js';
import { nameOf } from './schema.js';

/** An operation of the API, as its pages describe it. */
export interface Call {
  readonly route: Route;
  readonly operation: DescribedOperation;
}

interface ResponseGroup {
  readonly heads: {
    readonly status: string;
    readonly description: string;
    /** Components or media types, in Markdown. */
    readonly kinds: string[];
  }[];
  readonly fields: readonly Field[];
}

/** Returns the schema of a request's body. */
export function bodyOf({ requestBody }: DescribedOperation): Schema | undefined {
  return Object.values(requestBody?.content ?? {})[0]?.schema;
}

/** Lists the fields of each body once, under all its statuses. */
export function responsesOf(operation: DescribedOperation, schemas: Schemas): ResponseGroup[] {
  const groups = new Map<string, ResponseGroup>();
  for (const [status, { description, content = {} }] of successes(operation)) {
    const kinds = Object.entries(content).map(([type, { schema = {} }]) =>
      nameOf(refName(schema) ?? type, schemas),
    );
    const shape = JSON.stringify(Object.values(content).map(({ schema }) => schema));
    const schema = content['application/json']?.schema ?? {};
    const group = groups.get(shape) ?? { heads: [], fields: fieldsOf(schema, schemas, 'response') };
    group.heads.push({ status, description, kinds });
    groups.set(shape, group);
  }
  return [...groups.values()];
}

/** Returns the first example of a response, as text in its language. */
export function exampleOf(operation: DescribedOperation) {
  for (const [status, { content = {} }] of successes(operation))
    for (const { example } of Object.values<Content[string]>(content))
      if (example !== undefined)
        return typeof example === 'string'
          ? { status, text: example, language: 'csv' }
          : { status, text: JSON.stringify(example, null, 2), language: 'json' };
  return null;
}

/** Sorts 200 after a 201 or 202, beside which it is a replay. */
function successes({ responses: all }: DescribedOperation) {
  return Object.entries(all)
    .filter(([status]) => status.startsWith('2'))
    .sort(([a], [b]) => Number(a === '200') - Number(b === '200'));
}
