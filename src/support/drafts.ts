import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { AUTHOR_FIELD, isFromOurPage, readForm, TOKEN_FIELD } from './forms.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeskSettings, SignedInPerson } from './desk.js';
import type { Cookies } from './cookies.js';

/** Keeps what a person wrote in a form that was sent without a session, until it is shown again. */

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly state: { readonly person: SignedInPerson | null };
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
    keepDraft(context, site.cookies, await readForm(context.req, context.res));
}

/** Keeps a form that names its author. */
export function keepDraft(
  context: Pick<Exchange, 'path' | 'append'>,
  cookies: Cookies,
  form: URLSearchParams,
): void {
  const fields = [...form].filter(([name]) => !NOT_KEPT.includes(name));
  const text = new URLSearchParams([['', context.path], ...fields]).toString();
  const value = brotliCompressSync(text).toString('base64url');
  if (form.has(AUTHOR_FIELD) && value.length <= MAX_COOKIE)
    context.append('Set-Cookie', cookies.set('desk-draft', value, KEPT_S));
}

/** Returns the kept form, or null. Discards a form that another person than the signed-in one wrote. */
export function readDraft(context: Exchange, cookies: Cookies): URLSearchParams | null {
  const value = cookies.read(context.req, 'desk-draft');
  if (value === null) return null;
  const form = parseDraft(value);
  const { person } = context.state;
  if (person === null || form?.get(AUTHOR_FIELD) === person.identity.id) return form;
  context.append('Set-Cookie', cookies.clear('desk-draft'));
  return null;
}

/** Returns null for a cookie that is not one of ours. */
function parseDraft(value: string): URLSearchParams | null {
  try {
    const bytes = brotliDecompressSync(Buffer.from(value, 'base64url'), {
      maxOutputLength: MAX_TEXT,
    });
    return new URLSearchParams(bytes.toString());
  } catch {
    return null;
  }
}
