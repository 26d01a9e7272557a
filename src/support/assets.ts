import { hash } from 'node:crypto';
import { SCRIPT } from './script.js';

/** The only style sheet: light or dark as the device prefers, tables that become cards on phones. */
const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #ffffff; --text: #1a2130; --soft: #566074; --line: #e1e5eb;
  --field: #8a94a6; --link: #0a4fa3; --act: #0a4fa3; --on-act: #ffffff; --stop: #a31621;
  --hover: #f3f6fb;
  --good: #dff4e6; --on-good: #14592b; --bad: #fde8e8; --on-bad: #8f1019; --wait: #fff0c9;
  --on-wait: #6b4500; --busy: #e4edfb; --on-busy: #0b4690; --none: #e9ecf1; --on-none: #404a5c;
  --small: 0.8125rem; --large: 1.625rem; --round: 0.5rem;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --back: #10141b; --card: #181e27; --text: #e6eaf0; --soft: #a3aebe; --line: #2c3542;
    --field: #66738a; --link: #8fc0ff; --act: #8fc0ff; --on-act: #0b1420; --stop: #ff9c9c;
    --hover: #202836;
    --good: #143322; --on-good: #8fe3ad; --bad: #3d181b; --on-bad: #ffb3b3; --wait: #382c0d;
    --on-wait: #f5cf7d; --busy: #152c4a; --on-busy: #a5cdff; --none: #2a3341; --on-none: #c4cdd9;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 0.9375rem/1.5 -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif;
}
a { color: var(--link); text-underline-offset: 0.15em; }
:is(a, button, input, select, textarea, summary):focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
h1, p, dd, code, th, td, li, .who { overflow-wrap: anywhere; }
td a { overflow-wrap: break-word; }
.soft, dt, thead th, ol.story time, .hint, .who { color: var(--soft); }
td .soft, td code, td li, thead th, ol.story time, .tag, .hint, button.copy, form.filter label { font-size: var(--small); }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.5rem; }
.card, table, details, .counts a { background: var(--card); border: 1px solid var(--line); border-radius: var(--round); }
.card { padding: 1rem; }
main, footer { max-width: 90rem; margin: 0 auto; padding: 0 1.5rem; }
header {
  display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: center;
  padding: 0.6rem max(1.5rem, 50% - 43.5rem); background: var(--card); border-bottom: 1px solid var(--line);
}
header nav { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
header a { padding: 0.5rem 0; text-decoration: none; }
header nav a[aria-current] { color: var(--text); font-weight: 600; box-shadow: 0 2px var(--act); }
header form { display: flex; gap: 0.5rem; align-items: center; }
header form.find { flex: 1 1 18rem; max-width: 32rem; margin-left: auto; }
.brand { font-weight: 700; color: var(--text); }
main { padding-top: 0.75rem; padding-bottom: 3rem; }
body:not(:has(header nav)) main { max-width: 30rem; }
.title { display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: center; margin: 0.25rem 0 0.75rem; }
h1 { font-size: var(--large); line-height: 1.2; letter-spacing: -0.01em; margin: 0; }
h2 { font-size: 1.0625rem; line-height: 1.3; margin: 2.25rem 0 0.75rem; }
h2:has(+ .soft) { margin-bottom: 0; }
h2 + .soft { margin-top: 0.1rem; }
p { margin: 0.5rem 0; }
td p { margin: 0; }
ol, ul.counts { list-style: none; margin: 0; padding: 0; }
dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: 0.5rem 0.75rem; margin: 0; }
dd, dd p { margin: 0; min-width: 0; }
dd time { font-size: 0.875rem; text-wrap: balance; }
.columns { display: grid; gap: 0 2rem; }
.columns > div { min-width: 0; }
.columns section:first-child > h2 { margin-top: 0; }
.columns .card { margin-bottom: 1.5rem; }
.links { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1.25rem; margin: 0 0 0 auto; }
@media (min-width: 75rem) {
  .columns { grid-template-columns: minmax(22rem, 28.5rem) 1fr; align-items: start; }
  .columns .card { margin-bottom: 0; }
  .bar form.filter label { flex: 0 1 auto; width: 9rem; }
}
table { width: 100%; border-collapse: separate; border-spacing: 0; font-size: 0.875rem; line-height: 1.35; }
th, td { padding: 0.3rem 0.75rem; text-align: left; vertical-align: top; }
tbody :is(th, td) { min-width: 5.5rem; }
thead th { font-weight: 600; white-space: nowrap; }
tbody th, tbody td { border-top: 1px solid var(--line); font-weight: 400; }
tbody tr { position: relative; }
tbody tr:hover { background: var(--hover); }
tbody a { text-decoration: none; }
tbody a:hover, tbody tr:hover th a { text-decoration: underline; }
tbody tr:last-child > :first-child { border-bottom-left-radius: var(--round); }
tbody tr:last-child > :last-child { border-bottom-right-radius: var(--round); }
/* The link of a row's heading covers the row, except other links and ids to copy. */
tbody th a:last-child::before { content: ''; position: absolute; inset: 0; }
tbody td :is(a, code, button) { position: relative; }
.number { text-align: right; }
/* Twelve rows of a list fit on a screen. The page of an item has the whole text. */
main > table td[data-label='Description'] > div {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; max-width: 12rem;
}
.amount, time { font-variant-numeric: tabular-nums; }
.amount, .due, td time, td code:not(.id) { white-space: nowrap; }
th .amount { font-weight: 600; }
.due { display: block; }
.chart { display: block; margin: 0.35rem 0 0 auto; max-width: 100%; overflow: visible; }
.chart text { fill: var(--soft); font-size: 0.6875rem; }
.chart.moved { fill: var(--link); }
.chart.pending { fill: var(--on-wait); }
.chart.failed { fill: var(--on-bad); }
code, pre { font: 0.75rem/1.4 ui-monospace, 'Liberation Mono', monospace; }
pre { margin: 0.5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
code.id { user-select: all; }
ol.story > li { position: relative; border-left: 2px solid var(--line); padding: 0 0 0.9rem 1.1rem; }
ol.story > li::before {
  content: ''; position: absolute; left: -0.375rem; top: 0.4rem; width: 0.625rem; height: 0.625rem;
  border-radius: 50%; background: var(--soft); border: 2px solid var(--back);
}
ol.story > li:last-child { border-color: transparent; }
ol.story time { display: block; }
textarea { min-height: 8rem; }
.tag { display: inline-block; border-radius: 1rem; padding: 0 0.6rem; font-weight: 600; white-space: nowrap; background: var(--none); color: var(--on-none); }
.good { background: var(--good); color: var(--on-good); }
.bad { background: var(--bad); color: var(--on-bad); }
.wait { background: var(--wait); color: var(--on-wait); }
.busy { background: var(--busy); color: var(--on-busy); }
.notice { border-left: 5px solid currentColor; border-radius: 0.4rem; padding: 0.6rem 0.9rem; margin: 0 0 1rem; }
.notice a { color: inherit; }
form.stacked { display: grid; gap: 0.85rem; max-width: 32rem; }
form:is(.stacked, .filter) label { display: grid; gap: 0.2rem; font-weight: 600; }
.hint { font-weight: 400; }
table + form.card { margin-top: 1rem; }
form.filter { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: end; margin: 0.75rem 0; }
form.filter label { flex: 0 1 12rem; }
form.filter a { line-height: 2.5rem; }
form.filter label:has([type='search']) { flex: 1 1 24rem; }
input, select, textarea, button, .button { font: inherit; color: inherit; min-height: 2.5rem; border: 1px solid var(--field); border-radius: 0.35rem; }
#set output:not(:empty) { position: fixed; right: 1.5rem; bottom: 1rem; z-index: 2; padding: 0.5rem 1rem; background: var(--card); border: 1px solid var(--act); border-radius: var(--round); }
form.set { display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; align-items: center; margin: 0.75rem 0; }
.bar { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: end; }
th input[type='checkbox'] { position: absolute; left: 0.75rem; z-index: 1; width: 1.5rem; height: 1.5rem; min-height: 0; margin: 0; accent-color: var(--act); }
tbody th:has(> input) { padding-left: 3rem; white-space: nowrap; }
input, select, textarea { width: 100%; padding: 0.4rem 0.65rem; background: var(--card); font-size: 0.9375rem; font-weight: 400; }
::placeholder { color: var(--soft); opacity: 1; }
button, .button { border-color: var(--act); padding: 0.4rem 1rem; background: var(--act); color: var(--on-act); font-weight: 600; cursor: pointer; }
button.stop { background: var(--stop); border-color: var(--stop); color: var(--card); }
.button { display: inline-flex; align-items: center; }
button.quiet, .button { background: var(--card); color: var(--link); border-color: var(--field); white-space: nowrap; text-decoration: none; }
button.copy { min-height: 1.5rem; padding: 0 0.25rem; border: 0; background: none; font-weight: 400; }
/* Actions are buttons in a row, and the open one takes the whole width. */
section:has(> details) { display: flex; flex-wrap: wrap; align-items: start; gap: 0.6rem; }
section:has(> details) > :is(h2, ol, details[open]) { flex: 0 0 100%; margin-bottom: 0; }
summary { cursor: pointer; font-weight: 600; padding: 0.5rem 1rem; list-style: none; border-radius: var(--round); }
summary::-webkit-details-marker { display: none; }
details.go:not([open]) { background: var(--act); border-color: var(--act); color: var(--on-act); }
details:not([open]) { border-color: var(--field); color: var(--link); }
details.stop:not([open]) { border-color: var(--stop); color: var(--stop); }
details > :is(form, p, pre) { margin: 0; padding: 0 1rem 1rem; }
footer { display: none; padding-bottom: 1.5rem; }
@media (hover: hover) {
  .scripted footer { display: block; }
  body:not(.keys) footer span { display: none; }
  .keys .links a[rel='next']::after { content: '\\00a0(N)'; }
  .keys [data-key='a'] > summary::after { content: ' (A)'; }
}
nav.pages { display: flex; gap: 0.75rem; margin: 1rem 0; }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.6rem; }
.counts a { display: block; height: 100%; padding: 0.6rem 0.9rem; color: var(--soft); text-decoration: none; line-height: 1.3; }
.counts a:hover, .counts a[aria-current] { border-color: var(--link); }
.counts a[aria-current] { box-shadow: inset 0 -3px var(--act); }
.counts strong { display: block; font-size: var(--large); line-height: 1.3; font-weight: 400; }
.counts:has([aria-current]) a { padding: 0.3rem 0.6rem; font-size: var(--small); }
.counts:has([aria-current]) strong { display: inline; font-size: 1rem; }
.counts strong.some { color: var(--text); font-weight: 700; }
.counts a:is([href$='stuck'], [href$='endpoints']) .some { color: var(--on-bad); }
/* Many columns fit if their cells wrap, though no number does. */
@media (min-width: 60.01rem) {
  :is(table:has(th:nth-child(9)):not(:has(input)), .columns table) :is(th, td) { min-width: 4.75rem; padding-inline: 0.4rem; }
  :is(table:has(th:nth-child(9)):not(:has(input)), .columns table) :is(thead th, .amount, .due, td time) { white-space: normal; overflow-wrap: break-word; }
}
@media screen and (max-width: 60rem) {
  table, tbody, tbody tr, tbody th, tbody td { display: block; }
  table { background: none; border: 0; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { background: var(--card); border: 1px solid var(--line); border-radius: var(--round); padding: 0.75rem 1rem; margin-bottom: 0.6rem; }
  tbody :is(th, td) { border: 0; padding: 0.15rem 0; }
  tbody .number { text-align: left; }
  tbody th { font-size: 1.0625rem; font-weight: 600; }
  td.none { display: none; }
  td time { white-space: normal; }
  tbody td[data-label] { display: grid; grid-template-columns: 6.5rem 1fr; gap: 0.75rem; }
  tbody td[data-label]::before { content: attr(data-label); color: var(--soft); font-size: var(--small); text-wrap: balance; }
  .chart { margin-left: 0; }
}
@media (max-width: 40rem) {
  header, main, footer { padding-left: 1rem; padding-right: 1rem; }
  header nav { order: 2; flex-basis: 100%; gap: 0 1.5rem; }
  header form.find { order: 3; flex-basis: 100%; max-width: none; }
  header form[method='post'] { margin-left: auto; }
  .counts { grid-template-columns: repeat(3, 1fr); gap: 0.4rem; }
  .counts a { padding: 0.4rem 0.6rem; font-size: var(--small); }
  .counts:has([aria-current]) { display: flex; overflow-x: auto; padding: 0.25rem 0; }
  .counts:has([aria-current]) li { flex: 0 0 6.5rem; }
  .links { margin-left: 0; flex-basis: 100%; }
  form.filter label { flex: 1 1 8rem; }
  h1 { font-size: 1.375rem; }
}
@media screen { .print { display: none; } }
@media print {
  :root { color-scheme: light; --back: #fff; --text: #000; --soft: #333; --link: #000; }
  header, footer, nav, form, input, button, details, section:has(> details):not(:has(> ol)), .links, .skip, .screen { display: none !important; }
  main { max-width: none; padding: 0; }
  tr, li, .card { break-inside: avoid; }
}
`;

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/><path d="M4 8.5l2.5 2.5L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

/** Contains a hash of the content, so that browsers cache it until it changes. */
const hashedPath = (text: string, ending: string): string =>
  `/assets/${hash('sha256', text, 'hex').slice(0, 16)}.${ending}`;

export const STYLE_PATH = hashedPath(STYLE, 'css');
export const SCRIPT_PATH = hashedPath(SCRIPT, 'js');
export const ICON_PATH = '/assets/icon.svg';

const UNTIL_CHANGED = 'public, max-age=31536000, immutable';

export const ASSETS = [
  { path: STYLE_PATH, type: 'text/css; charset=utf-8', text: STYLE, cache: UNTIL_CHANGED },
  { path: SCRIPT_PATH, type: 'text/javascript', text: SCRIPT, cache: UNTIL_CHANGED },
  { path: ICON_PATH, type: 'image/svg+xml', text: ICON, cache: 'public, max-age=86400' },
];
