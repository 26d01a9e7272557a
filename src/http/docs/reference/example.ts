import type { Content, Schema, Schemas } from '../../openapi-document.js';
import { resolveSchema } from './fields.js';

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
