import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** Tenant → name of the token in the demo world → the token. */
const content = z.record(z.string(), z.record(z.string(), z.string()));

/** The demo world's tokens: the service shows each once, and scripts want them at every start. Mode 0600. */
export class TokenFile {
  private readonly path: string;
  private tokens: z.infer<typeof content>;

  constructor(path: string) {
    this.path = path;
    this.tokens = this.read();
  }

  get(tenant: string, name: string): string | undefined {
    return this.tokens[tenant]?.[name];
  }

  keep(tenant: string, issued: Readonly<Record<string, string>>): void {
    this.tokens = { ...this.tokens, [tenant]: { ...this.tokens[tenant], ...issued } };
    const draft = `${this.path}.${process.pid}`;
    try {
      writeFileSync(draft, `${JSON.stringify(this.tokens, null, 2)}\n`, { mode: 0o600 });
      renameSync(draft, this.path);
    } catch (failure) {
      rmSync(draft, { force: true });
      throw failure;
    }
  }

  /** A file that is lost or spoilt is an empty one: new tokens are issued then. */
  private read(): z.infer<typeof content> {
    try {
      return content.parse(JSON.parse(readFileSync(this.path, 'utf8')));
    } catch {
      return {};
    }
  }
}
