import { z } from 'zod';
import { readPrivate, writePrivate } from './private-file.js';

/** Tenant → name of the token in the demo world → the token. */
const content = z.record(z.string(), z.record(z.string(), z.string()));

/** The demo world's tokens: the service shows each once. One that is lost is replaced by a new one. */
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
