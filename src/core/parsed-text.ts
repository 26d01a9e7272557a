import { z } from 'zod';

/** A text that `parse` understands; null is a problem, for this reason. `schema`: what else is asked of the text. */
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
