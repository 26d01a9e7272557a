import { breakable, html, type Html, joinHtml, NOTHING } from '../html.js';
import { renderMarkdown } from '../markdown-page.js';
import { refName, type Schema, type Schemas } from '../../openapi-document.js';

/** Resolves references, merges allOf, and takes the alternative to null. */
export function resolveSchema(given: Schema, schemas: Schemas): Schema {
  const name = refName(given);
  if (name !== undefined) return resolveSchema(schemas[name] ?? {}, schemas);
  const { allOf, anyOf, oneOf, ...own } = given;
  if (allOf !== undefined) {
    const parts = [...allOf.map((part) => resolveSchema(part, schemas)), own];
    return {
      ...Object.assign({}, ...parts),
      properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})),
      required: parts.flatMap(({ required }) => required ?? []),
    };
  }
  const [only, ...others] = (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
  return only !== undefined && others.length === 0
    ? { ...resolveSchema(only, schemas), ...descriptionField(own) }
    : given;
}

function descriptionField({ description }: Schema): Schema {
  return description === undefined ? {} : { description };
}

export interface FieldLinks {
  /** Returns the page of a component. Undefined if its fields are listed where it is used. */
  readonly object: (name: string) => string | undefined;
  /** Replaces `object` for fields that are one of several objects. */
  readonly union?: (name: string) => string | undefined;
  /** Marks fields that may be absent, instead of required ones. */
  readonly isResponse?: boolean;
}

/** Returns one object with the fields of all alternatives. */
function mergeAlternatives(given: Schema, schemas: Schemas): Schema {
  const schema = resolveSchema(given, schemas);
  const alternatives = (schema.oneOf ?? schema.anyOf ?? []).map((one) =>
    resolveSchema(one, schemas),
  );
  if (!alternatives.some(({ properties }) => properties !== undefined)) return schema;
  const names = new Set(alternatives.flatMap(({ properties = {} }) => Object.keys(properties)));
  const properties = Array.from(names, (name) => {
    const all = alternatives.flatMap(({ properties: own }) => own?.[name] ?? []);
    return [name, commonSchema(all, schemas)] as const;
  });
  const required = [...names].filter((name) =>
    alternatives.every((one) => one.required?.includes(name)),
  );
  return { properties: Object.fromEntries(properties), required };
}

/** Returns one schema for a field of several alternatives. */
function commonSchema(all: readonly Schema[], schemas: Schemas): Schema {
  const [first = {}] = all;
  const distinct = new Map(all.map((one) => [JSON.stringify(one), one]));
  if (distinct.size === 1) return first;
  if (all.every((one) => one.enum !== undefined))
    return { ...first, enum: [...new Set(all.flatMap((one) => one.enum ?? []))] };
  if (all.every(({ items }) => items !== undefined))
    return {
      ...first,
      items: commonSchema(
        all.flatMap(({ items }) => items ?? []),
        schemas,
      ),
    };
  const oneOf = [...distinct.values()];
  if (all.every(({ properties }) => properties !== undefined))
    return { ...mergeAlternatives({ oneOf }, schemas), type: 'object', ...descriptionField(first) };
  const hasOneType = first.type !== undefined && all.every(({ type }) => type === first.type);
  return hasOneType ? first : { oneOf, ...descriptionField(first) };
}

/** Fields of nested objects have dotted names. */
export function fieldList(schema: Schema, schemas: Schemas, links: FieldLinks): Html {
  const rows = fieldRows(schema, { schemas, links, prefix: '' });
  return rows.length === 0 ? NOTHING : html`<dl>${rows}</dl>`;
}

interface Within {
  readonly schemas: Schemas;
  readonly links: FieldLinks;
  readonly prefix: string;
}

function fieldRows(given: Schema, within: Within): Html[] {
  const { properties = {}, required = [] } = mergeAlternatives(given, within.schemas);
  return Object.entries(properties).flatMap(([name, field]) => {
    const full = `${within.prefix}${name}`;
    const whole = resolveSchema(field, within.schemas);
    const text = field.description ?? whole.description ?? '';
    const row = fieldRow(
      { name: full, schema: field, isRequired: required.includes(name), text },
      within,
    );
    const inner = mergeAlternatives(whole.items ?? whole, within.schemas);
    const isElsewhere =
      linkOf(whole.items ?? field, within) !== undefined || unionOf(field).length > 1;
    const prefix = whole.items === undefined ? `${full}.` : `${full}[].`;
    return isElsewhere || inner.properties === undefined
      ? [row]
      : [row, ...fieldRows(inner, { ...within, prefix })];
  });
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly text: string;
}

export function fieldRow(
  { name, schema, isRequired, text }: Row,
  within: Omit<Within, 'prefix'>,
): Html {
  const { isResponse = false } = within.links;
  const mark = isRequired ? 'required' : 'may be absent';
  return html`<div>
    <dt>
      <code>${breakable(name)}</code>
      <span class="type">${typeOf(schema, within)}</span
      >${isRequired === isResponse ? NOTHING : html` <span class="must">${mark}</span>`}
    </dt>
    <dd>${text === '' ? NOTHING : renderMarkdown(text)}</dd>
  </div>`;
}

function linkOf(
  schema: Schema,
  { links }: Pick<Within, 'links'>,
): { name: string; href: string } | undefined {
  const parts = [schema, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const name = parts.map(refName).find((one) => one !== undefined);
  const href = name === undefined ? undefined : links.object(name);
  return name === undefined || href === undefined ? undefined : { name, href };
}

/** Returns `string, uuid`, `completed or expired`, `Amount or null`. */
export function typeOf(schema: Schema, within: Omit<Within, 'prefix'>): Html {
  const refs = unionOf(schema);
  if (refs.length > 1)
    return joinHtml(
      refs.map((name) => objectLink(name, within)),
      ' or ',
    );
  const link = linkOf(schema, within);
  const orNull = isNullable(schema) ? html` or null` : NOTHING;
  if (link !== undefined) return html`<a href="${link.href}">${link.name}</a>${orNull}`;
  const whole = resolveSchema(schema, within.schemas);
  if (whole.items !== undefined) return html`list of ${typeOf(whole.items, within)}${orNull}`;
  const values = whole.enum ?? (whole.const === undefined ? [] : [whole.const]);
  if (values.length > 0) {
    const words = values
      .filter((value) => value !== null)
      .map(
        (value) =>
          html`<code
            >${breakable(typeof value === 'string' ? value : JSON.stringify(value))}</code
          >`,
      );
    return html`${joinHtml(words, ', ')}${orNull}`;
  }
  return html`${simpleType(whole) || 'object'}${orNull}`;
}

function unionOf({ oneOf, anyOf = [] }: Schema): string[] {
  return (oneOf ?? anyOf).flatMap((one) => refName(one) ?? []);
}

function objectLink(name: string, { links }: Pick<Within, 'links'>): Html {
  const href = (links.union ?? links.object)(name);
  return href === undefined ? html`${name}` : html`<a href="${href}">${name}</a>`;
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : (type ?? []);
}

function isNullable(schema: Schema): boolean {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return parts.some((part) => typesOf(part).includes('null'));
}

function simpleType(schema: Schema): string {
  const { format, minimum, maximum, maxLength, pattern = '' } = schema;
  const names = typesOf(schema).filter((name) => name !== 'null');
  const range =
    minimum === undefined || maximum === undefined ? undefined : `${minimum} to ${maximum}`;
  const length = maxLength === undefined ? undefined : `at most ${maxLength} characters`;
  // A pattern that begins with ^[^ excludes characters that are never typed; that of a UUID is long.
  const isReadable = pattern !== '' && !pattern.startsWith('^[^') && pattern.length < 60;
  const characters = format === undefined && isReadable ? `matches ${pattern}` : undefined;
  return [names.join(' or '), format, range, length, characters]
    .filter((part) => part !== undefined)
    .join(', ');
}
