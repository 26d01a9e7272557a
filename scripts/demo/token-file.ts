import { z } from 'zod';
import { readPrivate, writePrivate } from './private-file.js';

/** Tenant → the token's name in the demo world → the token. */
const content = z.record(z.string(), z.record(z.string(), z.string()));

/** The demo world's tokens, since the service shows each once. A lost one is replaced. */
export class TokenFile {
  private tokens: z.infer<typeof content>;

  constructor(private readonly path: string) {
    this.tokens = readPrivate(path, content);
  }

  get(tenant: string, name: string): string | undefined {
    return this.tokens[tenant]?.[name];
  }

  keep(tenant: string, issued: Readonly<Record<string, string>>): void {
    this.tokens = { ...this.tokens, [tenant]: { ...this.tokens[tenant], ...issued } };
    writePrivate(this.path, this.tokens);
  }
}
