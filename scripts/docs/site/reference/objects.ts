import { type ApiDocument, refName, type Schema, type Schemas } from '../../openapi/document.js';
import { type Call, exampleOf } from './call.js';
import { resolveSchema } from './schema.js';

/** A resource that lists or several operations return. The page of its group describes it once, above the operations. */
export interface ApiObject {
  readonly name: string;
  readonly path: string;
  readonly anchor: string;
  readonly schema: Schema;
  /** As JSON. */
  readonly example: string;
}

interface Group {
  readonly path: string;
  readonly calls: readonly Call[];
}

/** A component that most objects hold, and that a guide describes. */
const AMOUNT = { name: 'Amount', path: '/conventions', anchor: 'amounts' };

/** Finds the objects of the API, each in the first group that returns it. */
export function objectsOf(groups: readonly Group[], schemas: Schemas): ApiObject[] {
  const found = new Map<string, ApiObject & { isListed: boolean; uses: number }>();
  for (const { path, calls } of groups)
    for (const { operation } of calls)
      for (const { name, isListed, example } of returned(operation, schemas)) {
        const { [name]: schema } = schemas;
        if (schema === undefined) continue;
        const own = { name, path, anchor: anchorOf(name), schema, example };
        const known = found.get(name) ?? { ...own, isListed: false, uses: 0 };
        known.isListed ||= isListed;
        known.uses += 1;
        found.set(name, known);
      }
  return [...found.values()].filter(({ isListed, uses }) => isListed || uses > 1);
}

/** Returns the component that an operation returns, alone or in a list. */
function returned(operation: Call['operation'], schemas: Schemas) {
  const example = exampleOf(operation)?.text ?? '';
  const [schema] = Object.entries(operation.responses).flatMap(([status, { content }]) =>
    status.startsWith('2') ? (content?.['application/json']?.schema ?? []) : [],
  );
  if (schema === undefined) return [];
  const item = resolveSchema(schema, schemas).properties?.items?.items;
  if (item === undefined) return [{ name: refName(schema) ?? '', isListed: false, example }];
  const [first] = (JSON.parse(example) as { items: unknown[] }).items;
  return [{ name: refName(item) ?? '', isListed: true, example: JSON.stringify(first, null, 2) }];
}

/** The links of pages in one form, HTML or Markdown. */
export interface Links {
  readonly urlOf: (path: string) => string;
  /** The document in which each object is a link to its description, in Markdown, instead of its fields. */
  readonly document: ApiDocument;
}

export function linksOf(
  objects: readonly ApiObject[],
  document: ApiDocument,
  urlOf: Links['urlOf'],
): Links {
  const { components } = document;
  const links = [AMOUNT, ...objects].map(({ name, path, anchor }): [string, Schema] => {
    const { description = '' } = components.schemas[name] ?? {};
    return [name, { type: `[\`${name}\`](${urlOf(path)}#${anchor})`, description }];
  });
  const schemas = { ...components.schemas, ...Object.fromEntries(links) };
  return { urlOf, document: { ...document, components: { ...components, schemas } } };
}

export function objectTitle(name: string): string {
  return `The ${name} object`;
}

/** Returns `bonus-batch-object` for `BonusBatch`. */
function anchorOf(name: string): string {
  return `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}-object`;
}
