import { html } from '../html.js';
import { notice, type Page, tokenField } from '../pages/layout.js';

/** Shown after the provider has proven an account that is not linked to a person yet. */
export function bindPage(secret: string, name: string, isRefused: boolean): Page {
  const refused = isRefused
    ? notice(
        'bad',
        'This code does not count. A code counts once: wait until your authenticator shows the next one. After several wrong codes none counts for a while.',
      )
    : '';
  const content = html`${refused}
    <p>
      Your company's sign-in says that you are ${name}, and the desk does not know that account yet.
      Prove it once with your authenticator: from then on the account alone signs you in.
    </p>
    <form class="stacked card" method="post" action="/sign-in/provider/bind">
      ${tokenField(secret)}
      <label
        >Code<span class="hint">The six digits that your authenticator shows now for ${name}</span>
        <input
          name="code"
          required
          autocomplete="one-time-code"
          inputmode="numeric"
          pattern="[0-9]{6}"
          maxlength="6"
      /></label>
      <button>This is me</button>
    </form>
    <p><a href="/sign-in">Sign in as somebody else</a></p>`;
  return { title: 'Is this you?', content, status: isRefused ? 401 : 200 };
}

/**
 * The desk's own page redirects, because browsers do not send the session when another site
 * redirects.
 */
export function signedInPage(next: string): Page {
  return { title: 'Signed in', content: html`<p><a href="${next}">Go on</a></p>` };
}
