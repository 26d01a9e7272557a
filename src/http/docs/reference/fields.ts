import { html, type Html, joined, NOTHING } from '../html.js';
import { renderMarkdown } from '../written.js';
import { refName, type Schema } from './document.js';

/** Bodies and objects as lists of fields, each with its type in words. */

type Schemas = Readonly<Record<string, Schema>>;

/**
 * Returns the schema behind a reference, the merged parts of an allOf, or the alternative to null.
 */
export function resolved(given: Schema, schemas: Schemas): Schema {
  const name = refName(given);
  if (name !== undefined) return resolved(schemas[name] ?? {}, schemas);
  const { allOf, anyOf, oneOf, ...own } = given;
  if (allOf !== undefined) {
    const parts = [...allOf.map((part) => resolved(part, schemas)), own];
    return {
      ...Object.assign({}, ...parts),
      properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})),
      required: parts.flatMap(({ required }) => required ?? []),
    };
  }
  const [only, ...others] = (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
  return only !== undefined && others.length === 0
    ? { ...resolved(only, schemas), ...described(own) }
    : given;
}

function described({ description }: Schema): Schema {
  return description === undefined ? {} : { description };
}

export interface FieldLinks {
  /**
   * The page that describes this component's object; undefined if none does, so its fields are
   * listed where it is used.
   */
  readonly object: (name: string) => string | undefined;
}

/** Returns the list of fields; fields of nested objects have dotted names. */
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
  const { properties = {}, required = [] } = resolved(given, within.schemas);
  return Object.entries(properties).flatMap(([name, field]) => {
    const full = `${within.prefix}${name}`;
    const whole = resolved(field, within.schemas);
    const text = field.description ?? whole.description ?? '';
    const row = fieldRow(
      { name: full, schema: field, isRequired: required.includes(name), text },
      within,
    );
    const inner = whole.items === undefined ? whole : resolved(whole.items, within.schemas);
    const isElsewhere = linkOf(whole.items ?? field, within) !== undefined;
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
  return html`<div>
    <dt>
      <code>${name}</code>
      <span class="type">${typeOf(schema, within)}</span
      >${isRequired ? html` <span class="must">required</span>` : NOTHING}
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
  const link = linkOf(schema, within);
  const orNull = isNullable(schema) ? html` or null` : NOTHING;
  if (link !== undefined) return html`<a href="${link.href}">${link.name}</a>${orNull}`;
  const whole = resolved(schema, within.schemas);
  if (whole.items !== undefined) return html`list of ${typeOf(whole.items, within)}${orNull}`;
  const values = whole.enum ?? (whole.const === undefined ? [] : [whole.const]);
  if (values.length > 0) {
    const words = values
      .filter((value) => value !== null)
      .map(
        (value) => html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`,
      );
    return html`${joined(words, ', ')}${orNull}`;
  }
  return html`${simpleType(whole)}${orNull}`;
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : (type ?? []);
}

function isNullable(schema: Schema): boolean {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return parts.some((part) => typesOf(part).includes('null'));
}

function simpleType(schema: Schema): string {
  const { format, minimum, maximum, maxLength } = schema;
  const names = typesOf(schema).filter((name) => name !== 'null');
  const range =
    minimum === undefined || maximum === undefined ? undefined : `${minimum} to ${maximum}`;
  const length = maxLength === undefined ? undefined : `at most ${maxLength} characters`;
  return [names.join(' or '), format, range, length]
    .filter((part) => part !== undefined)
    .join(', ');
}
