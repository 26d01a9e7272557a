/** The only script: keyboard shortcuts, addresses of forms, sums of selections, and buttons that copy ids. Pages work without it. */
export const SCRIPT = `
const keysButton = document.querySelector('footer button');
const areKeysOff = () => localStorage.getItem('keys') === 'off';
const showKeys = () => {
  document.body.classList.toggle('keys', !areKeysOff());
  if (keysButton !== null) keysButton.textContent = 'Turn the keys ' + (areKeysOff() ? 'on' : 'off');
};
keysButton?.addEventListener('click', () => {
  localStorage.setItem('keys', areKeysOff() ? 'on' : 'off');
  showKeys();
});
document.body.classList.add('scripted');
/** Back leads to a form that was refused as to any page. One whose result is unknown is sent again. */
const [visit] = performance.getEntriesByType('navigation');
if (visit?.responseStatus < 500) history.replaceState(null, '', location.href);
showKeys();
const isList = /^\\/(waiting\\/[a-z]+)?$/.test(location.pathname);
const find = (selector) => document.querySelector(selector);
addEventListener('keydown', (event) => {
  const typedIn = event.target.closest('input, select, textarea');
  if (event.key === 'Escape') typedIn?.blur();
  if (typedIn !== null || areKeysOff() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'a') {
    const form = find('details[data-key="a"]');
    if (form === null) return;
    form.open = true;
    form.querySelector('input:not([type=hidden])').focus();
  } else if (event.key === 'n') {
    find(isList ? 'tbody a' : '.links a[rel=next]')?.click();
    // Only a page without a next item has this text.
    find('.links [aria-live]')?.replaceChildren('That was the last item of this list');
  } else if (event.key === '/') find('input[type=search]')?.focus();
  else return;
  event.preventDefault();
});
/** An open form has an address, which leads to it again. */
const showAddress = ({ target }) => {
  const open = target.querySelector('form')?.getAttribute('action') ?? '';
  const path = target.open ? open : open.replace(/\\/[a-z]+(?=\\?|$)/, '');
  if (path !== '') history.replaceState(null, '', path);
};
addEventListener('toggle', showAddress, true);
const isInUse = () =>
  document.hidden ||
  [...document.querySelectorAll('main input')].some(
    (one) => one === document.activeElement || one.checked || one.value !== one.defaultValue,
  );
/** Refreshes a list, unless something is selected or written on it. */
const refresh = async () => {
  if (isInUse()) return;
  const headers = { 'svc-refresh': '1' };
  const response = await fetch(location.href, { headers, redirect: 'error' }).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (isInUse()) return;
  const focused = document.activeElement?.getAttribute('href');
  find('main').replaceWith(page.querySelector('main'));
  document.title = page.title;
  if (focused) find('main a[href="' + CSS.escape(focused) + '"]')?.focus();
};
/** To count and sum a list again takes time. */
if (isList && !location.search.includes('sum=')) setInterval(refresh, 15_000);
/** Shows the number of the selected items and their sum in each asset, which all have the same decimals. */
const showSelected = () => {
  const rows = [...document.querySelectorAll('tbody tr:has(input:checked)')];
  const sums = {};
  for (const row of rows) {
    const [number, asset] = row.querySelector('.amount').textContent.split(' ');
    const { raw = 0n } = sums[asset] ?? {};
    const scale = number.split('.')[1]?.length ?? 0;
    sums[asset] = { raw: raw + BigInt(number.replace(/[.,]/g, '')), scale };
  }
  const texts = Object.entries(sums).map(([asset, { raw, scale }]) => {
    const digits = String(raw).padStart(scale + 1, '0');
    const point = digits.length - scale;
    const whole = BigInt(digits.slice(0, point)).toLocaleString('en');
    return whole + (scale > 0 ? '.' + digits.slice(point) : '') + ' ' + asset;
  });
  const text = rows.length + ' selected, in total ' + texts.join(' and ');
  find('#set output')?.replaceChildren(rows.length > 0 ? text : '');
};
for (const type of ['change', 'pageshow']) addEventListener(type, showSelected);
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
