import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';

/** Reads secrets that the service showed once, as JSON. A missing or corrupted file counts as empty. */
export function readPrivate<S extends z.ZodRecord>(
  path: string,
  content: S,
): z.infer<S> | Record<string, never> {
  try {
    return content.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return {};
  }
}

export function writePrivate(path: string, content: object): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (failure) {
    rmSync(draft, { force: true });
    throw failure;
  }
}
