import assert from 'node:assert/strict';
import { ASSETS, formatAmount } from '../../src/core/amount.js';
import { element, html } from '../../src/support/html.js';
import { parsePrinted, parseUnits } from '../../src/support/forms.js';

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

  it('escapes text that looks like HTML', () => {
    const faked = { text: '<b>', toString: () => '<b>' } as unknown as string;
    assert.doesNotMatch(html`${String(faked)}`.text, /<b>/);
  });

  it('shows invisible characters as escapes', () => {
    assert.equal(html`${'a\u202eb\u200bc\nd'}`.text, 'a\\u202eb\\u200bc\\u000ad');
  });

  it('isolates text from right to left, except in attributes and titles', () => {
    assert.equal(
      html`${'محمد'} → ${'فاطمة ا (acme)'} ${'Ana'}`.text,
      '<bdi>محمد</bdi> → <bdi>فاطمة ا (acme)</bdi> Ana',
    );
    assert.equal(html`<a title="${'محمد'}">${5}</a>`.text, '<a title="محمد">5</a>');
    assert.equal(element('title', {}, 'שלום').text, '<title>שלום</title>');
  });

  it('omits null, undefined and false, and no other value', () => {
    assert.equal(html`${null}${undefined}${false}${0}${0n}${''}`.text, '00');
  });

  it('accepts values and literals that end in an equals sign', () => {
    assert.equal(
      html`<a href="/list?page=${2}">a=${'b='}${'c'}</a>`.text,
      '<a href="/list?page=2">a=b=c</a>',
    );
    const link = html`<a href="/">b</a>`;
    assert.equal(html`${'a='}${link}`.text, 'a=<a href="/">b</a>');
  });

  it('refuses a value wherever its escapes would not be safe', () => {
    const [word, markup] = ['a b', html`<b>a</b>`];
    // Another name, because the formatter would correct these templates.
    const raw = html;
    for (const wrong of [
      () => raw`<p title=${word}></p>`,
      () => raw`<p title='${word}'></p>`,
      () => raw`<p ${word}></p>`,
      () => raw`<${word}></p>`,
      () => raw`<p title="a"${word}></p>`,
      () => raw`<p title="${markup}"></p>`,
      () => raw`<p title="${[markup]}"></p>`,
      () => raw`<script>${word}</script>`,
      () => raw`<script defer src="${word}" nonce=${word}></script>`,
      () => raw`<!-- ${word} -->`,
      () => raw`<p title="${word}`,
      () => raw`${word}<p`,
    ])
      assert.throws(wrong, TypeError, String(wrong));
  });
});

describe('an amount as people write it', () => {
  it('an amount entered by a person is parsed exactly or refused', () => {
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

  it('may be written as the desk prints it', () => {
    for (const [text, raw, asset] of [
      ['25,000.00', 2_500_000n, 'COPM'],
      ['25,000.00 COPM', 2_500_000n, 'COPM'],
      [' 1,234,567.89  COPM ', 123_456_789n, 'COPM'],
      ['25,000', 2_500_000n, 'COPM'],
      ['25000.00 DUSD', 25_000_000_000n, 'DUSD'],
      ['0.000001 DUSD', 1n, 'DUSD'],
      ['0.125 DUSD', 125_000n, 'DUSD'],
      ['1.5 DUSD', 1_500_000n, 'DUSD'],
      ['150 COPM', 15_000n, 'COPM'],
    ] as const)
      assert.deepEqual(parsePrinted(text, 'COPM'), { raw, asset }, text);
    for (const text of [
      ...['25.000,00', '2,5000', '1,00', ',100', '0,100', '1,000,00', '25,000.001', '1 EUR'],
      ...['1 2 COPM', 'COPM', '', '1.500 DUSD', '125.000 DUSD'],
    ])
      assert.equal(parsePrinted(text, 'COPM'), null, text);
    for (const raw of [1n, 99n, 100_000n, 9_223_372_036_854_775_807n])
      for (const asset of ASSETS)
        assert.deepEqual(parsePrinted(formatAmount({ raw, asset }), 'COPM'), { raw, asset });
  });
});
