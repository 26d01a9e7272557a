import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { EXAMPLE_ASSET } from '../core/amount.js';

// Must run before the first `.openapi()`, so every schema imports z from here.
extendZodWithOpenApi(z);

export { z };

/** Values that all examples share, so that examples of operations fit together. */
export const EXAMPLE = {
  id: '0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44',
  source: '0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11',
  destination: '0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22',
  tenant: '0198f29f-e0d1-7c3a-b5f4-2d8e6a917c33',
  member: '0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66',
  keyId: 'k3jd7q2mzx5tyw4a',
  event: '0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10',
  at: '2026-11-21T14:05:01.123Z',
  later: '2026-11-21T14:06:12.480Z',
  asset: EXAMPLE_ASSET,
  amount: { raw: '150000', asset: EXAMPLE_ASSET },
  fee: { raw: '150', asset: EXAMPLE_ASSET },
  zero: { raw: '0', asset: EXAMPLE_ASSET },
  metadata: { invoice: 'A-17' },
  cursor: 'AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs',
} as const;

const EXAMPLES = new WeakMap<z.ZodType, unknown>();

/** For a schema whose input type cannot be expressed. A test validates every example. */
export function exampledAs<S extends z.ZodType>(schema: S, example: unknown): S {
  EXAMPLES.set(schema, example);
  return schema;
}

/** Sets an example that the schema's input type checks. */
export const exampled: <S extends z.ZodType>(schema: S, example: z.input<S>) => S = exampledAs;

export function exampleOf(schema: z.ZodType): unknown {
  return EXAMPLES.get(schema);
}
