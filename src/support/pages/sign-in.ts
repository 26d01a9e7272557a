import { html, type Html } from '../html.js';
import { hiddenField, notice, type Page, tokenField } from './layout.js';

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
  ${ways.withProvider && html`<p class="card"><a href="/sign-in/provider?next=${encodeURIComponent(next)}">Sign in with your company's account</a></p>`}
  ${ways.withCode && codeForm(secret, next)}`;
  return { title: 'Sign in', content, status };
}

function codeForm(secret: string, next: string): Html {
  return html`<form class="stacked card" method="post" action="/sign-in">
    ${tokenField(secret)}${hiddenField('next', next)}
    <label
      >Name<input
        name="name"
        required
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        maxlength="80"
    /></label>
    ${codeField('The six digits from your authenticator')}
    <button>Sign in</button>
  </form>`;
}

function codeField(hint: string): Html {
  return html`<label
    >Code<span class="hint">${hint}</span>
    <input
      name="code"
      required
      autocomplete="one-time-code"
      inputmode="numeric"
      pattern="[0-9]{6}"
      maxlength="6"
  /></label>`;
}

/** Reveals neither which of the two was wrong nor whether the name exists. */
export const NOT_SIGNED_IN = html`The name or the code is wrong. Each code works once: wait until
your authenticator shows the next one. After several wrong codes, no code works for a while.`;

/** Shown after the provider has proven an account that is not linked to a person yet. */
export function bindPage(secret: string, name: string, isRefused: boolean): Page {
  const content = html`${isRefused && notice('bad', CODE_REFUSED)}
    <p>
      Your company's sign-in says that you are ${name}, and the desk does not know that account yet.
      Prove it once with your authenticator: from then on the account alone signs you in.
    </p>
    <form class="stacked card" method="post" action="/sign-in/provider/bind">
      ${tokenField(secret)}
      ${codeField(`The six digits that your authenticator shows now for ${name}`)}
      <button>This is me</button>
    </form>
    <p><a href="/sign-in">Sign in as somebody else</a></p>`;
  return { title: 'Is this you?', content, status: isRefused ? 401 : 200 };
}

const CODE_REFUSED =
  'This code does not count. A code counts once: wait until your authenticator shows the next one. After several wrong codes none counts for a while.';

/** Browsers send the session only if the desk's own page redirects. */
export function signedInPage(next: string): Page {
  return { title: 'Signed in', content: html`<p><a href="${next}">Go on</a></p>` };
}
