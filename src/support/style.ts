import { hash } from 'node:crypto';

/** The only style sheet, light or dark as the device prefers, with one column that fits a phone. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #ffffff; --text: #1b2330; --soft: #4d5a6b; --line: #c9d1db;
  --link: #0b57a4; --act: #0b57a4; --on-act: #ffffff; --stop: #a31621; --on-stop: #ffffff;
  --good: #e3f4e8; --good-line: #1f7a3d; --bad: #fdeaea; --bad-line: #a31621; --wait: #fff6dd; --wait-line: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #12161c; --card: #1b222b; --text: #e8edf3; --soft: #aab6c4; --line: #3b4756;
    --link: #8fc2ff; --act: #8fc2ff; --on-act: #0c1520; --stop: #ff9b9b; --on-stop: #2a0a0c;
    --good: #14301d; --good-line: #6fd08f; --bad: #3a1618; --bad-line: #ff9b9b; --wait: #33290f; --wait-line: #f0c463;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, 'Liberation Sans', sans-serif; }
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px;
}
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.5rem; }
header, main, footer { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; align-items: center; padding-top: 0.75rem; padding-bottom: 0.75rem; }
header nav { display: flex; gap: 1.25rem; flex: 1 1 auto; }
header nav a { padding: 0.5rem 0; }
header form { display: flex; gap: 0.75rem; align-items: center; }
.who { color: var(--soft); overflow-wrap: anywhere; }
main { padding-bottom: 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.75rem; }
h3 { font-size: 1rem; margin: 0 0 0.25rem; overflow-wrap: anywhere; }
p { margin: 0.5rem 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.9rem 1rem; }
ul.cards, ol.story { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.6rem; }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.plain li { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(7rem, 12rem) 1fr; gap: 0.35rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
dd p { margin: 0; }
ol.story > li { border-left: 3px solid var(--line); padding: 0.1rem 0 0.1rem 0.9rem; }
ol.story time { color: var(--soft); font-size: 0.9rem; display: block; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.6rem; font-size: 0.9rem; }
.tag.wait { background: var(--wait); border-color: var(--wait-line); }
.tag.good { background: var(--good); border-color: var(--good-line); }
.tag.bad { background: var(--bad); border-color: var(--bad-line); }
.notice { border: 1px solid var(--line); border-left-width: 6px; border-radius: 0.4rem; padding: 0.6rem 0.9rem; margin: 0 0 1rem; }
.notice.good { background: var(--good); border-color: var(--good-line); }
.notice.bad { background: var(--bad); border-color: var(--bad-line); }
.notice.wait { background: var(--wait); border-color: var(--wait-line); }
form.stacked { display: grid; gap: 0.75rem; max-width: 32rem; }
form.stacked label { display: grid; gap: 0.2rem; font-weight: 600; }
form.stacked .hint { font-weight: 400; color: var(--soft); font-size: 0.9rem; }
input, select, button { font: inherit; color: inherit; }
input, select { font-weight: 400; }
input, select { width: 100%; padding: 0.55rem 0.6rem; border: 1px solid var(--soft); border-radius: 0.35rem; background: var(--back); }
button { border: 1px solid var(--act); border-radius: 0.35rem; padding: 0.55rem 1rem; background: var(--act); color: var(--on-act); font-weight: 600; cursor: pointer; min-height: 2.75rem; }
button.stop { background: var(--stop); border-color: var(--stop); color: var(--on-stop); }
button.quiet { background: transparent; color: var(--link); border-color: var(--line); }
details { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; margin-bottom: 0.6rem; }
summary { cursor: pointer; font-weight: 600; padding: 0.75rem 1rem; }
details > form, details > p { margin: 0; padding: 0 1rem 1rem; }
details > p { padding-bottom: 0.75rem; }
nav.pages { display: flex; gap: 1.25rem; margin-top: 1rem; }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.6rem; list-style: none; margin: 0; padding: 0; }
.counts strong { display: block; font-size: 1.5rem; line-height: 1.2; }
@media (max-width: 34rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
`;

/** Icon of the tab, so that browsers do not request one. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/><path d="M4 8.5l2.5 2.5L12 5.5" fill="none" stroke="#fff" stroke-width="2"/></svg>';

/** Contains a hash, so that browsers cache the style sheet until it changes. */
export const STYLE_PATH = `/assets/${hash('sha256', STYLE, 'hex').slice(0, 16)}.css`;
export const ICON_PATH = '/assets/icon.svg';
