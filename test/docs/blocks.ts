import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { CONTENTS } from '../../scripts/docs/site/contents.js';

/** The code of the site's written pages, as the tests run it. */

export interface Block {
  readonly language: string;
  readonly text: string;
  /** The text of the page between the previous block and this one. */
  readonly before: string;
}

export const WRITTEN_PAGES: readonly string[] = CONTENTS.flatMap(({ pages }) =>
  pages.map(({ file }) => file).filter((file) => existsSync(file)),
);

export function blocksOf(page: string): Block[] {
  const parts = readFileSync(page, 'utf8').split(/^```(.*)\n([\s\S]*?)^```$/m);
  const blocks: Block[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3)
    blocks.push({
      before: parts[at] ?? '',
      language: parts[at + 1]?.split(' ')[0] ?? '',
      text: parts[at + 2] ?? '',
    });
  return blocks;
}

/** Returns the only block of the page in this language that begins with `start`. */
export function blockOf(page: string, language: string, start = ''): string {
  const [block, ...others] = blocksOf(page).filter(
    (one) => one.language === language && one.text.startsWith(start),
  );
  if (block === undefined || others.length > 0)
    throw new Error(`${page} has not exactly one block in ${language}`);
  return block.text;
}

export function isHere(tool: string, argument = '--version'): boolean {
  try {
    execFileSync(tool, [argument], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Text of which every run has its own. */
const OWN = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  /^whsec_/,
  /^http:\/\/127\.0\.0\.1:\d+\/$/,
  /^\d+$/,
];

/** Where what a page shows differs from what came: other fields, another kind of value, another word. */
export function difference(shown: unknown, came: unknown, at = '$'): string | null {
  if (shown === null) return null;
  if (Array.isArray(shown)) {
    if (!Array.isArray(came)) return `${at} is no list`;
    return shown.length === 0 ? null : difference(shown[0], came[0], `${at}[0]`);
  }
  if (typeof shown === 'object') {
    if (typeof came !== 'object' || came === null)
      return `${at} is no object: ${JSON.stringify(came)}`;
    const [expected, given] = [Object.keys(shown), Object.keys(came)].map((keys) => keys.join());
    if (expected !== given) return `${at} has ${given}, not ${expected}`;
    const fields = new Map<string, unknown>(Object.entries(came));
    const faults = Object.entries(shown).map(([name, value]) =>
      difference(value, fields.get(name), `${at}.${name}`),
    );
    return faults.find((fault) => fault !== null) ?? null;
  }
  if (typeof shown === 'string' && typeof came === 'string') {
    const kind = OWN.find((pattern) => pattern.test(shown));
    return (kind === undefined ? shown === came : kind.test(came))
      ? null
      : `${at} is ${came}, not ${shown}`;
  }
  return typeof shown === typeof came ? null : `${at} is ${JSON.stringify(came)}`;
}
