import { type Content, refName, type Schema, type Schemas } from '../../openapi-document.js';

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

/** Returns one object with the fields of all alternatives. */
export function mergeAlternatives(given: Schema, schemas: Schemas): Schema {
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

export const AN_ID = '0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10';
const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-11-01T14:05:00.000Z',
  uri: 'https://example.com/hooks',
};

export function bodyExample(
  { example, examples = {}, schema = {} }: Content[string],
  schemas: Schemas,
): unknown {
  return example ?? Object.values(examples)[0]?.value ?? new Sampler(schemas).sample(schema);
}

/** Builds the minimum that a schema requires. */
class Sampler {
  private ids = 0;

  constructor(private readonly schemas: Schemas) {}

  sample(given: Schema): unknown {
    const schema = resolveSchema(given, this.schemas);
    const {
      example,
      examples,
      enum: values,
      const: only,
      default: usual,
      items,
      properties,
      minimum,
    } = schema;
    const documented = example ?? examples?.[0] ?? only ?? usual ?? values?.[0];
    if (documented !== undefined) return documented;
    if (items !== undefined) return [this.sample(items)];
    if (properties !== undefined) {
      const names = schema.required ?? Object.keys(properties).slice(0, 1);
      return Object.fromEntries(names.map((name) => [name, this.sample(properties[name] ?? {})]));
    }
    if (schema.type === 'integer' || schema.type === 'number') return minimum ?? 1;
    return schema.type === 'boolean' ? true : this.text(schema);
  }

  private text({ format = '', pattern = '' }: Schema): string {
    if (format === 'uuid') return `${AN_ID.slice(0, -1)}${this.ids++}`;
    // Numbers of documents or accounts have a pattern of their own.
    return BY_FORMAT[format] ?? (pattern.startsWith('^[0-9') ? '10203040' : 'text');
  }
}

function typesOf({ type }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : (type ?? []);
}

export function isNullable(schema: Schema): boolean {
  const parts = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return parts.some((part) => typesOf(part).includes('null'));
}

/** Returns `string, uuid, at most 20 characters`. */
export function simpleType(schema: Schema): string {
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
