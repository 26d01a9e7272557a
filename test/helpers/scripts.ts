import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './service-process.js';

/** A file of scripts/lib, which no compiler looks at: the caller says what it exports. */
export async function importScript<Exports>(file: string): Promise<Exports> {
  return (await import(pathToFileURL(join(ROOT, 'scripts/lib', file)).href)) as Exports;
}
