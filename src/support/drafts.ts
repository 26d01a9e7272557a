import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { isFromOurPage, readForm, TOKEN_FIELD } from './forms.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeskSettings } from './desk.js';
import type { Cookies } from './sessions.js';

/** Keeps what a person wrote in a form that was sent without a session, until it is shown again. */

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  append(name: string, value: string): void;
}

interface DraftDeps {
  readonly settings: DeskSettings;
  readonly cookies: Cookies;
}

const KEPT_S = 10 * 60;
/** Browsers keep cookies of up to 4,096 bytes. */
const MAX_COOKIE = 3_800;
const MAX_TEXT = 65_536;
/** Fields that belong to the session, to the shown form or to a moment. */
const NOT_KEPT = ['code', 'act', TOKEN_FIELD];

/** Reads the form of a page of the desk, and keeps it in the browser for ten minutes. */
export async function keepSentForm(context: Exchange, site: DraftDeps): Promise<void> {
  if (isFromOurPage(context.req, new URL(site.settings.url).origin))
    keepDraft(context, site, await readForm(context.req, context.res));
}

export function keepDraft(context: Exchange, { cookies }: DraftDeps, form: URLSearchParams): void {
  const fields = [...form].filter(([name]) => !NOT_KEPT.includes(name));
  const text = new URLSearchParams([['', context.path], ...fields]).toString();
  const value = brotliCompressSync(text).toString('base64url');
  if (value.length <= MAX_COOKIE)
    context.append('Set-Cookie', cookies.set('desk-draft', value, KEPT_S));
}

/** Returns the kept form if it was sent to this path. */
export function readDraft(
  { req }: Pick<Exchange, 'req'>,
  { cookies }: Pick<DraftDeps, 'cookies'>,
  path: string,
) {
  const value = cookies.read(req, 'desk-draft');
  if (value === null) return null;
  try {
    const bytes = brotliDecompressSync(Buffer.from(value, 'base64url'), {
      maxOutputLength: MAX_TEXT,
    });
    const form = new URLSearchParams(bytes.toString());
    return form.get('') === path ? form : null;
  } catch {
    // The cookie is not one of ours.
    return null;
  }
}
