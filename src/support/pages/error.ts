import { ApiError, ERRORS } from '../../core/errors.js';
import { isUnavailable } from '../../db/failures.js';
import { DeskError, noSuchPage } from '../failures.js';
import { html } from '../html.js';
import { notice, type Page } from './layout.js';

interface ErrorPage {
  readonly page: Page;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFault: boolean;
}

export function errorPage(failure: unknown, requestId: string): ErrorPage {
  if (failure instanceof DeskError)
    return noticePage(failure.status, failure.title, failure.message, failure.headers);
  if (failure instanceof ApiError) {
    const { code, message } = failure.refusal;
    if (code === 'not_found') return errorPage(noSuchPage(), requestId);
    return noticePage(ERRORS[code].status, 'Not accepted', `${message}.`, failure.headers);
  }
  if (isUnavailable(failure))
    return noticePage(503, 'No answer', 'The database does not respond. Try again in a moment.');
  const text = `An internal error occurred. If it happens again, give the operator this id: ${requestId}`;
  return { ...noticePage(500, 'Internal error', text), isFault: true };
}

function noticePage(
  status: number,
  title: string,
  text: string,
  headers: ErrorPage['headers'] = {},
): ErrorPage {
  const content = html`${notice('bad', text)}
    <p><a href="/">Needs attention</a></p>`;
  return { page: { title, content, status }, headers, isFault: false };
}
