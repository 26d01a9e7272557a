import assert from 'node:assert/strict';
import { html } from '../../src/support/html.js';
import { parseUnits } from '../../src/support/units.js';

describe('a template of HTML', () => {
  it('escapes every value except its own HTML', () => {
    const hostile = `<script>"&'`;
    assert.equal(html`<p title="${hostile}">${hostile}</p>`.text.match(/<script>/), null);
    assert.equal(html`${hostile}`.text, '&lt;script&gt;&quot;&amp;&#39;');
    assert.equal(
      html`<ul>
        ${[html`<li>${'<'}</li>`, '>']}
      </ul>`.text.replaceAll(/\s/g, ''),
      '<ul><li>&lt;</li>&gt;</ul>',
    );
  });

  it('does not take for HTML what only looks like it', () => {
    const faked = { text: '<b>', toString: () => '<b>' } as unknown as string;
    assert.doesNotMatch(html`${String(faked)}`.text, /<b>/);
  });

  it('shows what cannot be seen as an escape', () => {
    assert.equal(html`${'a\u202eb\u200bc\nd'}`.text, 'a\\u202eb\\u200bc\\u000ad');
  });

  it('omits null, undefined and false, and no other value', () => {
    assert.equal(html`${null}${undefined}${false}${0}${0n}${''}`.text, '00');
  });

  it('has no attribute without quotes', () => {
    assert.throws(() => html`<p title=${'a b'}></p>`, TypeError);
  });
});

describe('an amount as people write it', () => {
  it('is exact, or none', () => {
    for (const [text, raw] of [
      ['1500.00', 150_000n],
      ['1500', 150_000n],
      ['0.5', 50n],
      ['0', 0n],
      [' 12.34 ', 1_234n],
      ['92233720368547758.07', 9_223_372_036_854_775_807n],
      ['92233720368547758.08', null],
      ['1,500.00', null],
      ['1500.001', null],
      ['-1', null],
      ['1e3', null],
      ['01', null],
      ['.5', null],
      ['5.', null],
      ['١٥', null],
      ['', null],
    ] as const)
      assert.equal(parseUnits(text, 'COPM'), raw, text);
  });
});
