import { refName, type Schema, type Schemas } from '../../openapi/document.js';

/** Resolves references, merges allOf, and takes the alternative to null. */
export function resolveSchema(given: Schema, schemas: Schemas): Schema {
  const name = refName(given);
  if (name !== undefined)
    return { ...resolveSchema(schemas[name] ?? {}, schemas), ...descriptionField(given) };
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

/** Returns the name of a component as code, or the link that `linksOf` put in its place. */
export function nameOf(component: string, schemas: Schemas): string {
  const { type } = schemas[component] ?? {};
  return typeof type === 'string' && type.startsWith('[') ? type : `\`${component}\``;
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

/** Alternatives of an object by the value of the field that names the alternative. */
export interface Variants {
  readonly field: string;
  readonly byValue: ReadonlyMap<string, Schema>;
}

/** Returns null unless each alternative has a field with a value of its own, such as `type`. */
export function variantsOf(given: Schema, schemas: Schemas): Variants | null {
  const schema = resolveSchema(given, schemas);
  const alternatives = (schema.oneOf ?? schema.anyOf ?? []).map((one) =>
    resolveSchema(one, schemas),
  );
  for (const field of Object.keys(alternatives[0]?.properties ?? {})) {
    const byValue = new Map(
      alternatives.flatMap((one) => {
        const [value, ...others] = one.properties?.[field]?.enum ?? [];
        return typeof value === 'string' && others.length === 0 ? [[value, one] as const] : [];
      }),
    );
    if (byValue.size > 1 && byValue.size === alternatives.length) return { field, byValue };
  }
  return null;
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
