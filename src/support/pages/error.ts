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
    return noticePage(
      503,
      'No answer',
      'The database does not answer now, so nothing can be shown. Try again in a moment.',
    );
  const text = `Something failed on our side. If it stays, tell whoever runs the service this id: ${requestId}`;
  return { ...noticePage(500, 'Something failed', text), isFault: true };
}

function noticePage(
  status: number,
  title: string,
  text: string,
  headers: ErrorPage['headers'] = {},
): ErrorPage {
  const content = html`${notice('bad', text)}
    <p><a href="/">What waits</a></p>`;
  return { page: { title, content, status }, headers, isFault: false };
}
