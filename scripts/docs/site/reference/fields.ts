import {
  type ApiDocument,
  type DescribedOperation,
  refName,
  type Schema,
  type Schemas,
} from '../../openapi/document.js';
import {
  isNullable,
  mergeAlternatives,
  nameOf,
  resolveSchema,
  simpleType,
  type Variants,
  variantsOf,
} from './schema.js';

/** Requests mark the fields that are required, responses those that may be absent. */
type Side = 'request' | 'response';

/** A field as the pages describe it. Code in its texts is between backquotes. */
export interface Field {
  readonly name: string;
  readonly type: string;
  /** `required`, `may be absent`, or with which alternatives of its object it can be sent. */
  readonly mark: string | null;
  readonly text: string;
}

/** Returns the fields of a body. Those of nested objects have dotted names. */
export function fieldsOf(given: Schema, schemas: Schemas, side: Side, prefix = ''): Field[] {
  const { properties = {}, required = [] } = mergeAlternatives(given, schemas);
  const variants = variantsOf(given, schemas);
  const fields = Object.entries(properties).flatMap(([own, schema]) => {
    const name = `${prefix}${own}`;
    const whole = resolveSchema(schema, schemas);
    const field = {
      name,
      type: typeOf(schema, schemas),
      mark: variantMark(own, variants, side) ?? markOf(required.includes(own), side),
      text: schema.description ?? whole.description ?? '',
    };
    const inner = mergeAlternatives(whole.items ?? whole, schemas);
    if (unionOf(schema).length > 1 || inner.properties === undefined) return [field];
    const path = whole.items === undefined ? `${name}.` : `${name}[].`;
    return [field, ...fieldsOf(whole.items ?? whole, schemas, side, path)];
  });
  return [...inheritedFields(given, schemas), ...fields];
}

/** Returns a field for all fields of the object that the schema extends. */
function inheritedFields(given: Schema, schemas: Schemas): Field[] {
  const parts = (schemas[refName(given) ?? ''] ?? given).allOf ?? [];
  return parts
    .filter((part) => resolveSchema(part, schemas).properties === undefined)
    .map((part) => ({
      name: '…',
      type: typeOf(part, schemas),
      mark: null,
      text: 'All of its fields.',
    }));
}

export function parametersOf(
  kind: 'path' | 'query' | 'header',
  operation: DescribedOperation,
  { components }: ApiDocument,
): Field[] {
  return operation.parameters
    .map((parameter) => components.parameters[refName(parameter) ?? ''] ?? parameter)
    .filter((parameter) => parameter.in === kind)
    .map(({ name = '', required = false, description, schema = {} }) => ({
      name,
      type: typeOf(schema, components.schemas),
      mark: markOf(required, 'request'),
      text: description ?? schema.description ?? '',
    }));
}

/** Returns undefined for a field that all alternatives have. */
function variantMark(name: string, variants: Variants | null, side: Side): string | undefined {
  if (variants === null) return undefined;
  const { field, byValue } = variants;
  const holders = [...byValue].filter(([, { properties }]) => properties?.[name] !== undefined);
  if (holders.length === byValue.size) return undefined;
  const isRequired = holders.every(([, { required }]) => required?.includes(name));
  const those = holders.map(([value]) => `\`${field}: ${value}\``).join(' or ');
  if (side === 'request') return `${isRequired ? 'required' : 'only'} with ${those}`;
  return `${isRequired ? '' : 'may be absent, '}only with ${those}`;
}

function markOf(isRequired: boolean, side: Side): string | null {
  if (isRequired === (side === 'response')) return null;
  return isRequired ? 'required' : 'may be absent';
}

/** Returns `string, uuid`, `Transfer or Payout`, or the values of an enumeration. */
function typeOf(schema: Schema, schemas: Schemas): string {
  const refs = unionOf(schema);
  if (refs.length > 1) return refs.map((name) => nameOf(name, schemas)).join(' or ');
  const orNull = isNullable(schema) ? ' or null' : '';
  const whole = resolveSchema(schema, schemas);
  if (whole.items !== undefined) return `list of ${typeOf(whole.items, schemas)}${orNull}`;
  const open = whole['x-extensible-enum'];
  const values = (open ?? whole.enum)?.filter((value) => value !== null);
  const words = values?.map(
    (value) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``,
  );
  const others = open === undefined ? '' : ' or a newer one';
  return `${words?.join(', ') ?? (simpleType(whole) || 'object')}${others}${orNull}`;
}

function unionOf({ oneOf, anyOf = [] }: Schema): string[] {
  return (oneOf ?? anyOf).flatMap((one) => refName(one) ?? []);
}
