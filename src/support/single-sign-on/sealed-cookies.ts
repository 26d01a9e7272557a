import { z } from 'zod';
import type { Keyring } from '../../core/fingerprint.js';
import type { Clock } from '../../core/instant.js';
import { seal, unseal } from '../../core/secret-box.js';

/**
 * A value that a browser keeps for ten minutes during a sign-in with the provider. Browsers cannot
 * read or forge it. Any process can open it.
 */

export const FLOW_S = 600;
const SPLIT = 1;

export class SealedValues<T> {
  /** `use` binds a value to one purpose. */
  constructor(
    private readonly keys: Keyring,
    private readonly clock: Clock,
    private readonly use: string,
    private readonly schema: z.ZodType<T>,
  ) {}

  seal(value: T): string {
    const text = JSON.stringify({ until: this.clock() + FLOW_S * 1_000, value });
    const { keyId, bytes } = seal(this.keys, text, this.context());
    const key = Buffer.from(keyId);
    return Buffer.concat([Buffer.from([key.length]), key, bytes]).toString('base64url');
  }

  /** Returns null if the value is invalid or too old. */
  open(sealed: string | null): T | null {
    if (sealed === null) return null;
    try {
      const bytes = Buffer.from(sealed, 'base64url');
      const end = SPLIT + (bytes[0] ?? 0);
      const keyId = bytes.subarray(SPLIT, end).toString();
      const text = unseal(this.keys, { keyId, bytes: bytes.subarray(end) }, this.context());
      const { until, value } = z
        .object({ until: z.number(), value: this.schema })
        .parse(JSON.parse(text));
      return this.clock() < until ? value : null;
    } catch {
      return null;
    }
  }

  private context(): string {
    return `support/${this.use}`;
  }
}
