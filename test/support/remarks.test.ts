import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import { idLiteral, text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { findForm, openDesk, type Visitor } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api);

describe('a note or taking an item at the support desk', () => {
  let leo: Visitor;
  let reader: Visitor;
  before(async () => {
    leo = await desk.staffed('leo');
    reader = await desk.staffed('reader', ['read']);
  });
  afterEach(() => assertLedgerSound(db.database));

  const pending = async (): Promise<string> => text((await own.createPending()).id);
  const row = async (id: string): Promise<string> => {
    const { text: page } = await leo.get('/waiting/transfers');
    return page.split('<tr').find((one) => one.includes(id)) ?? '';
  };

  it('anybody of the staff writes a note of up to 2,000 characters on any item, and all see it with its author and time', async () => {
    const id = await pending();
    const batch = own.guarded.id;
    const note = `Called them.\n<b>=1+1</b> ${'ñ'.repeat(1_900)}`;
    for (const page of [`/transfers/${id}`, `/accounts/${batch}`]) {
      const answer = await reader.act(page, 'note', { reason: note });
      assert.equal(answer.status, 303);
      const { text: shown } = await maria.get(page);
      assert.match(shown, /<strong>reader<\/strong> <time datetime="20/);
      assert(shown.includes('<p>Called them.</p><p>&lt;b&gt;=1+1&lt;/b&gt; ñññ'));
      // A note does not change the item.
      assert(!/Note|note add/.test(shown.slice(shown.indexOf('id="story"'))));
    }
    const [line, ...others] = await desk.acts(id);
    assert(line !== undefined && others.length === 0);
    assert.deepEqual(
      [line.action, line.actorClaimed, line.channel],
      ['note.add', 'reader', 'support'],
    );
    assert.equal(parseDetails(line).note, note);
  });

  it('a note is refused if it is empty or too long, and what was written stays in its form', async () => {
    const id = await pending();
    for (const [note, kept, words] of [
      [' \n', '', /a note of 1 to 2000 characters is needed/],
      ['a'.repeat(2_001), 'aaaa</textarea', /the note is not valid: at most 2000 characters/],
      ['two\r\nlines \u202e', '>two\nlines \\u202e</textarea', /the text has invisible characters/],
    ] as const) {
      const answer = await maria.act(`/transfers/${id}`, 'note', { reason: note });
      assert.equal(answer.status, 400);
      assert.match(answer.text, words);
      assert(answer.text.includes(kept));
    }
    assert.deepEqual(await desk.acts(id), []);
  });

  it('a form of a note that is sent twice, even at the same time, adds one note', async () => {
    const id = await pending();
    const fields = { ...(await maria.form(`/transfers/${id}`, 'note')), reason: 'Once' };
    const post = () => maria.post(`/transfers/${id}/note`, fields);
    const answers = [...(await Promise.all([post(), post()])), await post()];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [303, 303, 303],
    );
    assert.equal((await desk.acts(id)).length, 1);
    assert.equal((await leo.post(`/transfers/${id}/note`, fields)).status, 403);
  });

  it('whoever takes an item is named on its page and in its list, until it is released or taken over', async () => {
    const id = await pending();
    const page = `/transfers/${id}`;
    assert(!(await row(id)).includes('taken by'));
    assert.equal((await maria.act(page, 'take', {})).status, 303);
    assert.match(await row(id), /taken by maria <time[^>]*>\d+ s ago/);
    assert.match((await leo.get(page)).text, /taken by maria since <time/);
    assert.match((await maria.get(page)).text, /Release it/);
    assert.equal(findForm((await leo.get(page)).text, `${page}/release`), null);
    assert.equal((await leo.act(page, 'take', {})).status, 303);
    assert.match(await row(id), /taken by leo/);
    assert.equal((await leo.act(page, 'release', {})).status, 303);
    assert(!(await row(id)).includes('taken by'));
    assert.deepEqual(
      (await desk.acts(id)).map(({ action, actorClaimed }) => [action, actorClaimed]),
      [
        ['item.take', 'maria'],
        ['item.take', 'leo'],
        ['item.release', 'leo'],
      ],
    );
  });

  it('an item that somebody has taken can be decided by anybody else, and is then taken no more', async () => {
    const id = await pending();
    const page = `/transfers/${id}`;
    await maria.act(page, 'take', {});
    assert.equal((await leo.act(page, 'reject', { reason: 'Not theirs' })).status, 303);
    const { text: shown } = await maria.get(page);
    assert(!shown.includes('taken by') && findForm(shown, `${page}/take`) === null);
  });

  it('whoever decides what somebody else has taken is warned above the button, also in a set', async () => {
    const [id, free] = [await pending(), await pending()];
    const page = `/transfers/${id}`;
    await maria.act(page, 'take', {});
    const formIn = (shown: string, path: string): string =>
      /<form[^]*?<\/form>/.exec(
        shown.slice(shown.lastIndexOf('<form', shown.indexOf(path))),
      )?.[0] ?? '';
    const [seen, own] = [(await leo.get(page)).text, (await maria.get(page)).text];
    const warning =
      /role="alert">Taken by maria until <time[^>]*>[^<]*<\/time>\.<\/div>\s*<div><button/;
    for (const verb of ['approve', 'reject', 'cancel']) {
      assert.match(formIn(seen, `"${page}/${verb}"`), warning, verb);
      assert.doesNotMatch(formIn(own, `"${page}/${verb}"`), /Taken by/, verb);
    }
    assert.doesNotMatch(formIn(seen, `"${page}/note"`), /Taken by/);
    const path = '/waiting/transfers/approve';
    const set = async (by: Visitor): Promise<string> =>
      formIn((await by.get(`${path}?item=${id}&item=${free}`)).text, `"${path}"`);
    assert.match(
      await set(leo),
      /Taken by others: 1 of 2, [^<]*<p>By maria; it ends in \d+ min\.<\/p><\/div>\s*<div><button/,
    );
    assert.doesNotMatch(await set(maria), /Taken by/);
  });

  it('an item is taken for an hour, also by a form that was shown an hour before', async () => {
    const id = await pending();
    await maria.act(`/transfers/${id}`, 'take', {});
    const [line] = await desk.acts(id);
    assert(line !== undefined);
    const shift = (minutes: number): Promise<unknown> =>
      db.sql(
        `UPDATE audit_log SET at=at-INTERVAL ${minutes} MINUTE WHERE id=${idLiteral(line.id)}`,
      );
    await shift(59);
    assert.match(await row(id), /taken by maria <time[^>]*>59 min ago/);
    await shift(1);
    assert(!(await row(id)).includes('taken by'));
    await shift(-60);
    await db.sql(
      `UPDATE audit_log SET id=${idLiteral(older(line.id))} WHERE id=${idLiteral(line.id)}`,
    );
    assert.match(await row(id), /taken by maria/);
    await db.sql(
      `UPDATE audit_log SET id=${idLiteral(line.id)} WHERE id=${idLiteral(older(line.id))}`,
    );
  });

  /** Returns an id that is an hour older. */
  function older(id: string): string {
    const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - 3_600_000;
    const hex = ms.toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
  }
});
