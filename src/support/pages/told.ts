import { ApiError, ERRORS } from '../../core/errors.js';
import { isUnavailable } from '../../db/failures.js';
import { DeskError, noSuchPage } from '../failures.js';
import { html } from '../html.js';
import { notice, type Page } from './layout.js';

interface Told {
  readonly page: Page;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFault: boolean;
}

export function toldPage(thrown: unknown, requestId: string): Told {
  if (thrown instanceof DeskError)
    return told(thrown.status, thrown.title, thrown.message, thrown.headers);
  if (thrown instanceof ApiError) {
    const { code, message } = thrown.refusal;
    if (code === 'not_found') return toldPage(noSuchPage(), requestId);
    return told(ERRORS[code].status, 'Not accepted', `${message}.`, thrown.headers);
  }
  if (isUnavailable(thrown))
    return told(
      503,
      'No answer',
      'The database does not answer now, so nothing can be shown. Try again in a moment.',
    );
  const text = `Something failed on our side. If it stays, tell whoever runs the service this id: ${requestId}`;
  return { ...told(500, 'Something failed', text), isFault: true };
}

function told(status: number, title: string, text: string, headers: Told['headers'] = {}): Told {
  const content = html`${notice('bad', text)}
    <p><a href="/">What waits</a></p>`;
  return { page: { title, content, status }, headers, isFault: false };
}
