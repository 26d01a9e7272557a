import { hash } from 'node:crypto';

/**
 * The only script of the desk. Adds keyboard shortcuts and buttons that copy ids. Every page works
 * without it.
 */
export const SCRIPT = `
document.body.classList.add('keys');
const open = (selector) => document.querySelector(selector);
addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, select, textarea') !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'a') {
    const form = open('details[data-key="a"]');
    if (form === null) return;
    form.open = true;
    form.querySelector('input:not([type=hidden])').focus();
  } else if (event.key === 'n') open('a[rel=next]')?.click();
  else if (event.key === '/') open('input[type=search]')?.focus();
  else return;
  event.preventDefault();
});
for (const id of navigator.clipboard ? document.querySelectorAll('code.id') : []) {
  const button = document.createElement('button');
  button.className = 'quiet copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy ' + id.textContent);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(id.textContent);
    button.textContent = 'Copied';
  });
  id.after(' ', button);
}
`;

/** Contains a hash, so that browsers cache the script until it changes. */
export const SCRIPT_PATH = `/assets/${hash('sha256', SCRIPT, 'hex').slice(0, 16)}.js`;
