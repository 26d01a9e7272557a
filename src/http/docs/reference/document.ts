import { z } from 'zod';

/** The part of the OpenAPI document that the reference reads. */

const schema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  description: z.string().optional(),
  example: z.unknown().optional(),
  examples: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  pattern: z.string().optional(),
  get properties() {
    return z.optional(z.record(z.string(), schema));
  },
  required: z.array(z.string()).optional(),
  get items() {
    return z.optional(schema);
  },
  get allOf() {
    return schemas;
  },
  get anyOf() {
    return schemas;
  },
  get oneOf() {
    return schemas;
  },
});
const schemas = z.optional(z.array(schema));
export type Schema = z.infer<typeof schema>;
export type Schemas = Readonly<Record<string, Schema>>;

const content = z
  .record(
    z.string(),
    z.object({
      schema: schema.optional(),
      example: z.unknown().optional(),
      examples: z.record(z.string(), z.object({ value: z.unknown().optional() })).optional(),
    }),
  )
  .default({});

const parameter = z.object({
  $ref: z.string().optional(),
  name: z.string().optional(),
  in: z.string().optional(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: schema.optional(),
});
export type Parameter = z.infer<typeof parameter>;

const operation = z.object({
  'x-subscribable': z.boolean().default(false),
  operationId: z.string().default(''),
  tags: z.array(z.string()).default([]),
  summary: z.string().default(''),
  description: z.string().default(''),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z
    .record(z.string(), z.object({ description: z.string().default(''), content }))
    .default({}),
});
export type DescribedOperation = z.infer<typeof operation>;
export type Content = z.infer<typeof content>;

const methods = z.object({
  get: operation.optional(),
  post: operation.optional(),
  put: operation.optional(),
  patch: operation.optional(),
  delete: operation.optional(),
});

const document = z.object({
  tags: z.array(z.object({ name: z.string(), description: z.string().default('') })).default([]),
  paths: z.record(z.string(), methods),
  webhooks: z.record(z.string(), methods).default({}),
  components: z.object({
    schemas: z.record(z.string(), schema).default({}),
    parameters: z.record(z.string(), parameter).default({}),
  }),
});
export type ApiDocument = z.infer<typeof document>;

/** Throws if the document has another shape. */
export function readDocument(made: object): ApiDocument {
  return document.parse(made);
}

export function refName({ $ref }: { readonly $ref?: string | undefined }): string | undefined {
  return $ref?.split('/').at(-1);
}
