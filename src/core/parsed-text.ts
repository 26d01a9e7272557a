import { z } from 'zod';

/**
 * Returns a schema for text that `parse` accepts. `parse` returns null for invalid text, which
 * fails with `reason`. `schema` adds further conditions on the text.
 */
export function parsedText<T>(
  parse: (text: string) => T | null,
  reason: string | ((text: string) => string),
  schema: z.ZodString = z.string(),
) {
  return schema.transform((text, context): T => {
    const parsed = parse(text);
    if (parsed !== null) return parsed;
    context.addIssue(typeof reason === 'string' ? reason : reason(text));
    return z.NEVER;
  });
}
