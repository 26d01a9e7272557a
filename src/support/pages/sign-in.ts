import { html, type Html } from '../html.js';
import { notice, type Page, tokenField } from './layout.js';

export interface SignInWays {
  readonly withCode: boolean;
  readonly withProvider: boolean;
}

/** `next` is the path to redirect to after sign-in. */
export function signInPage(
  ways: SignInWays,
  secret: string,
  next: string,
  refused: Html | null,
  status = 200,
): Page {
  const content = html`${refused === null ? '' : notice('bad', refused)}
  ${next === '/' ? '' : html`<p>You followed a link from another site. If you are already signed in, <a href="${next}">continue</a>.</p>`}
  ${ways.withProvider && html`<p class="card"><a href="${providerPath(next)}">Sign in with your company's account</a></p>`}
  ${ways.withCode && codeForm(secret, next)}`;
  return { title: 'Sign in', content, status };
}

function providerPath(next: string): string {
  return `/sign-in/provider?next=${encodeURIComponent(next)}`;
}

function codeForm(secret: string, next: string): Html {
  return html`<form class="stacked card" method="post" action="/sign-in">
    ${tokenField(secret)}<input type="hidden" name="next" value="${next}" />
    <label
      >Name<input
        name="name"
        required
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        maxlength="80"
    /></label>
    <label
      >Code<span class="hint">The six digits from your authenticator</span>
      <input
        name="code"
        required
        autocomplete="one-time-code"
        inputmode="numeric"
        pattern="[0-9]{6}"
        maxlength="6"
    /></label>
    <button>Sign in</button>
  </form>`;
}

/** Reveals neither which of the two was wrong nor whether the name exists. */
export const NOT_SIGNED_IN = html`The name or the code is wrong. Each code works once: wait until
your authenticator shows the next one. After several wrong codes, no code works for a while.`;
